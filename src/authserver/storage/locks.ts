import { randomBytes } from 'node:crypto';

/** Something that only one may do at a time, among all processes that share the store. */
export interface Locks {
  /**
   * The token to unlock with, or `undefined` when somebody else holds the lock, or may believe to. It opens by itself after `ttl`
   * seconds, so a holder that died or slept must not trust it beyond that: what is done under a lock still has to end in a `swap`.
   */
  lock(key: string, ttl: number): Promise<string | undefined>;
  /** Keeps the lock for `ttl` seconds from now; says whether it was still held. */
  extend(key: string, token: string, ttl: number): Promise<boolean>;
  /** Does nothing when the lock opened by itself, whoever holds it now. */
  unlock(key: string, token: string): Promise<void>;
}

interface Held {
  readonly token: string;
  readonly until: number;
}

/** Locks that nobody opened stay in the map until there are this many. */
const SWEEP_AT = 1_000;

/** Locks between the tasks of this process. `now` counts milliseconds. */
export function createMemoryLocks(now: () => number): Locks {
  const held = new Map<string, Held>();

  function sweep(): void {
    for (const [key, { until }] of held) if (until <= now()) held.delete(key);
  }

  return {
    async lock(key, ttl) {
      if (held.size >= SWEEP_AT) sweep();
      const holder = held.get(key);
      if (holder && holder.until > now()) return undefined;
      const token = createLockToken();
      held.set(key, { token, until: now() + ttl * 1000 });
      return token;
    },
    async extend(key, token, ttl) {
      const holder = held.get(key);
      if (holder?.token !== token || holder.until <= now()) return false;
      held.set(key, { token, until: now() + ttl * 1000 });
      return true;
    },
    async unlock(key, token) {
      if (held.get(key)?.token === token) held.delete(key);
    },
  };
}

export function createLockToken(): string {
  return randomBytes(16).toString('base64url');
}
