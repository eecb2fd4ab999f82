import type { RedisSentinels } from './redis.ts';

/** The `storage` block for a set of sentinels. */
export function storageOf({ masterName, addresses }: RedisSentinels, more: object = {}): object {
  return { type: 'redis', redis: { sentinelConfig: { masterName, sentinelAddrs: addresses }, ...more } };
}
