/**
 * What no single command can do at once. Scripts go out as text each time: they are shorter than the rows, the server caches
 * them by that text, and a new master after a failover need not be taught any.
 *
 * `again` is 1 when a first try may have been carried out although its answer got lost. Values are unique (they are sealed with
 * a random nonce), so a row that already has our value was written by that first try.
 */

/** KEYS row; ARGV value, milliseconds, again. */
export const ADD = `
if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then return 1 end
if ARGV[3] == '1' and redis.call('GET', KEYS[1]) == ARGV[1] then return 1 end
return 0`;

/** KEYS row; ARGV expected, value, milliseconds, again. */
export const SWAP = `
local found = redis.call('GET', KEYS[1])
if found == ARGV[1] then redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) return 1 end
if ARGV[4] == '1' and found == ARGV[2] then return 1 end
return 0`;

/** KEYS lock; ARGV token, milliseconds. */
export const EXTEND = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 0`;

/** KEYS lock; ARGV token. */
export const UNLOCK = `
if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end
return 0`;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/** KEYS group; ARGV member, milliseconds. Members are scored by the time they end, and the group lives as long as its last one. */
export const JOIN = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
redis.call('ZADD', KEYS[1], 'GT', now + ARGV[2], ARGV[1])
if redis.call('PTTL', KEYS[1]) < tonumber(ARGV[2]) then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end
return 1`;

/** KEYS group. */
export const MEMBERS = `${NOW}
return redis.call('ZRANGEBYSCORE', KEYS[1], '(' .. now, '+inf')`;
