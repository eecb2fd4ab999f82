import type { Secret } from '../base/index.ts';

/** A Redis or Valkey that keeps what an authorization server must not forget. Times are in milliseconds. */
export interface RedisPlan {
  readonly kind: 'redis';
  readonly servers: RedisServersPlan;
  readonly account?: RedisAccountPlan;
  readonly tls?: RedisTlsPlan;
  readonly timeouts: {
    /** Longest wait for a connection. */
    readonly dial: number;
    /** Longest wait for an answer. */
    readonly read: number;
    /** Longest wait to hand over a command, such as while sentinels choose a new master. */
    readonly write: number;
  };
}

export type RedisServersPlan =
  | { readonly kind: 'single'; readonly address: RedisAddress }
  | { readonly kind: 'cluster'; readonly address: RedisAddress }
  | {
      readonly kind: 'sentinel';
      readonly masterName: string;
      readonly sentinels: readonly RedisAddress[];
      readonly db: number;
      /** Whom to log in as at the sentinels themselves. */
      readonly account?: RedisAccountPlan;
      readonly tls?: RedisTlsPlan;
    };

export interface RedisAddress {
  readonly host: string;
  readonly port: number;
}

export interface RedisAccountPlan {
  /** The default user when not given. */
  readonly username?: Secret;
  readonly password: Secret;
}

export interface RedisTlsPlan {
  /** PEM certificates to trust instead of those of the system. */
  readonly ca?: string;
  readonly verify: boolean;
}
