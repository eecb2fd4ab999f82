import { createRedisStore } from '../../src/authserver/storage/redis/index.ts';
import { silentLog } from '../../src/base/index.ts';
import type { RedisPlan } from '../../src/plan/index.ts';

/**
 * A process of its own that shares rows with others: adds to a counter as often as it is told, takes what it can, and prints
 * what it got as JSON.
 */
const [plan = '', name = '', rounds = ''] = process.argv.slice(2);
const store = await createRedisStore(JSON.parse(plan) as RedisPlan, { name, log: silentLog });

for (let round = 0; round < Number(rounds); ) {
  const read = (await store.get('count:a')) ?? '';
  if (await store.swap('count:a', read, String(Number(read) + 1), 100)) round++;
}
const taken: string[] = [];
for (const member of await store.members('codes:all')) {
  const value = await store.take(member);
  if (value !== undefined) taken.push(value);
}
await store.close();
process.stdout.write(JSON.stringify(taken));
