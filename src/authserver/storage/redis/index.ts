/** Rows, locks and words in Redis or Valkey: one server, one that sentinels watch over, or a cluster. Never falls back to memory. */
export { createRedisStore, type RedisParts, type RedisStore } from './store.ts';
