import { given, parseDuration, type Secret } from '../base/index.ts';
import type { Storage } from '../resources/index.ts';
import type { StoragePlan } from './auth-server-plan.ts';
import type { RedisAccountPlan, RedisAddress, RedisPlan, RedisServersPlan, RedisTlsPlan } from './redis-plan.ts';

type Redis = NonNullable<Storage['redis']>;
type SecretRef = { readonly name: string; readonly key: string };

export interface StorageSources {
  /** Where services without a namespace are looked for. */
  readonly namespace: string;
  readonly secretOf: (ref: SecretRef) => Secret;
}

/** Where an authorization server keeps its rows. The validator has seen that the parts fit together. */
export function planStorage(storage: Storage | undefined, sources: StorageSources): StoragePlan {
  if (storage?.redis === undefined) return { kind: 'memory' };
  const { redis } = storage;
  return {
    kind: 'redis',
    servers: serversOf(redis, sources),
    ...given({ account: accountOf(redis.aclUserConfig, sources), tls: tlsOf(redis.tls, sources) }),
    timeouts: {
      dial: milliseconds(redis.dialTimeout),
      read: milliseconds(redis.readTimeout),
      write: milliseconds(redis.writeTimeout),
    },
  } satisfies RedisPlan;
}

function serversOf(redis: Redis, sources: StorageSources): RedisServersPlan {
  const { addr, clusterMode, sentinelConfig } = redis;
  if (sentinelConfig === undefined) {
    return { kind: clusterMode ? 'cluster' : 'single', address: addressOf(addr ?? '') };
  }
  const { masterName, sentinelAddrs, sentinelService: service, db } = sentinelConfig;
  const inside = service && {
    host: `${service.name}.${service.namespace ?? sources.namespace}.svc.cluster.local`,
    port: service.port,
  };
  return {
    kind: 'sentinel',
    masterName,
    sentinels: inside ? [inside] : (sentinelAddrs ?? []).map(addressOf),
    db,
    ...given({ account: accountOf(redis.sentinelAclUserConfig, sources), tls: tlsOf(redis.sentinelTls, sources) }),
  };
}

function accountOf(user: Redis['aclUserConfig'], { secretOf }: StorageSources): RedisAccountPlan | undefined {
  if (user === undefined) return undefined;
  const username = user.usernameSecretRef && secretOf(user.usernameSecretRef);
  return { ...given({ username }), password: secretOf(user.passwordSecretRef) };
}

function tlsOf(tls: Redis['tls'], { secretOf }: StorageSources): RedisTlsPlan | undefined {
  if (tls === undefined) return undefined;
  const ca = tls.caCertSecretRef && secretOf(tls.caCertSecretRef).reveal();
  return { ...given({ ca }), verify: !tls.insecureSkipVerify };
}

/** `host:port`, where an IPv6 host stands in brackets. */
function addressOf(text: string): RedisAddress {
  const colon = text.lastIndexOf(':');
  return { host: text.slice(0, colon).replace(/^\[|\]$/g, ''), port: Number(text.slice(colon + 1)) };
}

function milliseconds(text: string): number {
  return parseDuration(text) ?? 0;
}
