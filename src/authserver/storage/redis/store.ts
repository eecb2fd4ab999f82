import { randomUUID } from 'node:crypto';
import { type Log, SallyError } from '../../../base/index.ts';
import type { RedisPlan } from '../../../plan/index.ts';
import type { Broadcast } from '../broadcast.ts';
import { createLockToken, type Locks } from '../locks.ts';
import type { Store } from '../store.ts';
import { createConfirm } from './confirm.ts';
import { type Client, connect } from './connect.ts';
import { unconfirmed } from './failure.ts';
import { createLink } from './link.ts';
import { createRedisBroadcast } from './listen.ts';
import { ADD, EXTEND, JOIN, MEMBERS, SWAP, UNLOCK } from './scripts.ts';

export interface RedisStore extends Store, Locks, Broadcast {
  /** Whether there is a connection right now. */
  isUp(): boolean;
}

export interface RedisParts {
  /** The server whose rows these are; several share a store under different names. */
  readonly name: string;
  readonly log: Log;
}

/** How often a command is repeated depends on what it does when it is carried out twice. */
const REPEATABLE = { repeatable: true };
const ONCE = { repeatable: false };

/** Fails when the store cannot be reached or does not let us do what we will have to: without it nobody can log in. */
export async function createRedisStore(plan: RedisPlan, { name, log }: RedisParts): Promise<RedisStore> {
  // The braces are a hash tag: in a cluster all rows of one server lie in one place, which scripts and groups need.
  const prefix = `{sally:${name}}:`;
  const at = (key: string): string => prefix + key;
  const where = whereOf(plan);
  const connections = await connect(plan);
  const { client } = connections;
  const link = createLink({ client, plan, where, log });
  const { isMaster } = connections;
  const confirm = isMaster && createConfirm(client, { where, log, isMaster, answerWithin: plan.timeouts.read });

  /** Reads ask the master too: a replica may not know yet that a row was taken. */
  const read = (words: readonly string[]): Promise<unknown> => link.run((redis) => call(redis, words), REPEATABLE);

  async function write(words: (again: boolean) => readonly string[], options = REPEATABLE): Promise<unknown> {
    return link.run(async (redis, again) => {
      const since = link.epoch();
      const answer = await call(redis, words(again));
      await confirm?.().catch((error: unknown) => {
        throw unconfirmed(error);
      });
      // Another connection may lead to another master, whose replicas say nothing about this write.
      if (link.epoch() !== since) throw unconfirmed(new Error('the connection broke'));
      return answer;
    }, options);
  }

  const broadcast = createRedisBroadcast(connections.listener, { prefix, where, log, link });
  const store: RedisStore = {
    ...broadcast,
    isUp: link.isUp,
    async get(key) {
      return text(await read(['GET', at(key)]));
    },
    async has(key) {
      return (await read(['EXISTS', at(key)])) === 1;
    },
    async set(key, value, ttl) {
      await write(() => ['SET', at(key), value, 'PX', ms(ttl)]);
    },
    async add(key, value, ttl) {
      return (await write((again) => ['EVAL', ADD, '1', at(key), value, ms(ttl), flag(again)])) === 1;
    },
    async swap(key, expected, value, ttl) {
      return (await write((again) => ['EVAL', SWAP, '1', at(key), expected, value, ms(ttl), flag(again)])) === 1;
    },
    async take(key) {
      return text(await write(() => ['GETDEL', at(key)], ONCE));
    },
    async remove(keys) {
      if (keys.length > 0) await write(() => ['DEL', ...keys.map(at)]);
    },
    async join(group, member, ttl) {
      await write(() => ['EVAL', JOIN, '1', at(group), member, ms(ttl)]);
    },
    async leave(group, member) {
      await write(() => ['ZREM', at(group), member]);
    },
    async members(group) {
      return ((await read(['EVAL', MEMBERS, '1', at(group)])) as unknown[]).map(String);
    },
    async lock(key, ttl) {
      // While the store was away a lock may have run out whose holder lives, and has yet to write what it did. It goes first.
      // Holders keep their locks with half of the time to spare.
      if (link.isBackAfter((ttl * 1000) / 2)) return undefined;
      const token = createLockToken();
      const isOurs = await write((again) => ['EVAL', ADD, '1', at(key), token, ms(ttl), flag(again)]);
      return isOurs === 1 ? token : undefined;
    },
    async extend(key, token, ttl) {
      return (await write(() => ['EVAL', EXTEND, '1', at(key), token, ms(ttl)])) === 1;
    },
    async unlock(key, token) {
      await write(() => ['EVAL', UNLOCK, '1', at(key), token]);
    },
    async close() {
      link.close();
      broadcast.close();
      connections.close();
    },
  };

  try {
    await link.opened();
    await tryOut(store);
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

/** Everything once, so that a user with too few permissions is noticed now and not at the first login. */
async function tryOut(store: RedisStore): Promise<void> {
  const [row, group, lock] = ['row', 'group', 'lock'].map((kind) => `trial:${kind}:${randomUUID()}`) as [
    string,
    string,
    string,
  ];
  await store.set(row, 'a', 10);
  await store.join(group, row, 10);
  const isKept =
    (await store.swap(row, 'a', 'b', 10)) &&
    (await store.get(row)) === 'b' &&
    (await store.has(row)) &&
    (await store.take(row)) === 'b' &&
    (await store.add(row, 'c', 10)) &&
    (await store.members(group)).includes(row);
  if (!isKept) {
    throw new SallyError('storage.unavailable', 'the store does not keep what is written to it', {
      hint: 'it must not drop rows before their time: check maxmemory and its policy',
    });
  }
  await store.leave(group, row);
  await store.remove([row]);
  await store.unlock(lock, (await store.lock(lock, 10)) ?? '');
  await store.publish('trial', '');
}

function call(client: Client, [command = '', ...args]: readonly string[]): Promise<unknown> {
  return client.call(command, ...args) as Promise<unknown>;
}

function whereOf({ servers }: RedisPlan): string {
  const addresses = servers.kind === 'sentinel' ? servers.sentinels : [servers.address];
  const listed = addresses.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`).join(', ');
  return servers.kind === 'sentinel' ? `${servers.masterName} of the sentinels ${listed}` : listed;
}

function text(answer: unknown): string | undefined {
  return typeof answer === 'string' ? answer : undefined;
}

/** Redis knows no row that lives for no time. */
function ms(ttl: number): string {
  return String(Math.max(1, Math.ceil(ttl * 1000)));
}

function flag(again: boolean): string {
  return again ? '1' : '0';
}
