import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { inspect, promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createServerSecrets } from '../../src/authserver/secrets.ts';
import type { Locks } from '../../src/authserver/storage/locks.ts';
import { createRecords } from '../../src/authserver/storage/records.ts';
import { createRedisStore, type RedisStore } from '../../src/authserver/storage/redis/index.ts';
import type { Store } from '../../src/authserver/storage/store.ts';
import { createLog, type Log, Secret, silentLog } from '../../src/base/index.ts';
import type { RedisPlan } from '../../src/plan/index.ts';
import { locksContract } from '../support/locks-contract.ts';
import { eventually } from '../support/processes.ts';
import {
  makeCertificates,
  type RedisCluster,
  type RedisSentinels,
  type RedisServer,
  startCluster,
  startCuttingProxy,
  startRedis,
  startSentinels,
} from '../support/redis.ts';
import { ROOT, tempFolder } from '../support/sally.ts';
import { storeContract } from '../support/store-contract.ts';

const QUICK = { dial: 2_000, read: 1_000, write: 1_000 };
/** Longer than the sentinels of the tests need to choose a new master. */
const PATIENT = { ...QUICK, write: 10_000 };
const PASSWORD = 'correct-horse-battery';

function single({ port }: RedisServer): RedisPlan {
  return { kind: 'redis', servers: { kind: 'single', address: { host: '127.0.0.1', port } }, timeouts: QUICK };
}

function clustered({ servers }: RedisCluster): RedisPlan {
  const port = servers[0]?.port ?? 0;
  return { kind: 'redis', servers: { kind: 'cluster', address: { host: '127.0.0.1', port } }, timeouts: QUICK };
}

function watched({ masterName, sentinels }: RedisSentinels, timeouts = PATIENT): RedisPlan {
  const addresses = sentinels.map(({ port }) => ({ host: '127.0.0.1', port }));
  return { kind: 'redis', servers: { kind: 'sentinel', masterName, sentinels: addresses, db: 0 }, timeouts };
}

let names = 0;
/** Rows under a name of their own, so that tests can share a server. */
const newName = (): string => `test/${++names}`;

async function open(plan: RedisPlan, name = newName(), log: Log = silentLog): Promise<RedisStore & AsyncDisposable> {
  const store = await createRedisStore(plan, { name, log });
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() });
}

/** A second lasts a fifth of one, for the rows and for the test alike. */
const PACE = 5;

function hastened<T extends Store & Locks>(store: T): Store & Locks {
  const set: Store['set'] = (key, value, ttl) => store.set(key, value, ttl / PACE);
  const add: Store['add'] = (key, value, ttl) => store.add(key, value, ttl / PACE);
  const join: Store['join'] = (group, member, ttl) => store.join(group, member, ttl / PACE);
  const swap: Store['swap'] = (key, expected, value, ttl) => store.swap(key, expected, value, ttl / PACE);
  const lock: Locks['lock'] = (key, ttl) => store.lock(key, ttl / PACE);
  return { ...store, set, add, join, swap, lock };
}

async function startContract(plan: RedisPlan) {
  const name = newName();
  const [store, other] = await Promise.all([open(plan, name), open(plan, name)]);
  return {
    store: hastened(store),
    other: hastened(other),
    locks: hastened(store),
    pass: (seconds: number) => sleep((seconds * 1000) / PACE),
    [Symbol.asyncDispose]: async () => void (await Promise.all([store.close(), other.close()])),
  };
}

describe('one server', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  describe('keeps the contract of a store', () => storeContract(() => startContract(single(server))));
  describe('keeps the contract of locks', () => locksContract(() => startContract(single(server))));

  it('several processes lose no count and take nothing twice', async () => {
    const name = newName();
    await using store = await open(single(server), name);
    await store.set('count:a', '0', 100);
    const codes = Array.from({ length: 60 }, (_, n) => `code:${n}`);
    for (const code of codes) {
      await store.set(code, `value of ${code}`, 100);
      await store.join('codes:all', code, 100);
    }
    const worker = join(ROOT, 'test/support/redis-worker.ts');
    const words = [worker, JSON.stringify(single(server)), name, '40'];
    const runs = await Promise.all([1, 2, 3].map(() => promisify(execFile)(process.execPath, words)));
    const taken = runs.flatMap(({ stdout }) => JSON.parse(stdout) as string[]);
    expect(await store.get('count:a')).toBe('120');
    expect(taken.toSorted()).toEqual(codes.map((code) => `value of ${code}`).toSorted());
  });

  it('servers of different names do not see each other', async () => {
    await using one = await open(single(server));
    await using two = await open(single(server));
    await one.set('Grant:a', 'x', 100);
    await one.join('grant-rows:a', 'Grant:a', 100);
    expect(await two.get('Grant:a')).toBeUndefined();
    expect(await two.members('grant-rows:a')).toEqual([]);
  });

  it('nothing that can be read lies in it, neither in keys nor in rows', async () => {
    const name = newName();
    await using store = await open(single(server), name);
    const records = createRecords(store, createServerSecrets('s', [new Secret('k'.repeat(48))]));
    const group = records.group('grant', 'grant-of-alice');
    const value = { accessToken: 'token-of-alice', email: 'alice@example.com' };
    await records.rows('upstream-tokens').put('code-of-alice', value, { ttl: 100, groups: [group] });
    expect(await records.rows('upstream-tokens').get('code-of-alice')).toEqual(value);

    const keys = (await server.cli('--scan')).split('\n').filter((key) => key.includes(`{sally:${name}}`));
    expect(keys).toHaveLength(2);
    const rows = await Promise.all(
      keys.map((key) =>
        server.cli(
          key.includes('grant-rows') ? 'zrange' : 'get',
          key,
          ...(key.includes('grant-rows') ? ['0', '-1'] : []),
        ),
      ),
    );
    expect(rows.join('').length).toBeGreaterThan(100);
    expect([...keys, ...rows].join('\n')).not.toMatch(/alice/);
  });

  it('every row and group has an end', async () => {
    const name = newName();
    await using store = await open(single(server), name);
    await store.set('a:1', 'x', 100);
    await store.add('a:2', 'x', 100);
    await store.swap('a:1', 'x', 'y', 100);
    await store.join('g:1', 'a:1', 100);
    await store.lock('l:1', 100);
    const keys = (await server.cli('--scan')).split('\n').filter((key) => key.includes(`{sally:${name}}`));
    expect(keys).toHaveLength(4);
    for (const key of keys) expect(Number(await server.cli('pttl', key))).toBeGreaterThan(90_000);
  });

  it('what one says the others hear, and only on their channel', async () => {
    const name = newName();
    await using one = await open(single(server), name);
    await using two = await open(single(server), name);
    const heard: string[] = [];
    const ear = {
      heard: (text: string) => void heard.push(text),
      listening: (is: boolean) => void heard.push(`${is}`),
    };
    const leave = two.subscribe('revoked', ear);
    await eventually(
      () => heard,
      (words) => words.includes('true'),
    );
    await one.publish('elsewhere', 'no');
    await one.publish('revoked', 'a');
    await two.publish('revoked', 'b');
    await eventually(
      () => heard,
      (words) => words.length === 3,
    );
    leave();
    await one.publish('revoked', 'c');
    await sleep(100);
    expect(heard).toEqual(['true', 'a', 'b']);
  });

  it('hangs up when it is closed, and may be closed twice', async () => {
    const connections = async () => (await server.cli('client', 'list')).match(/name=sallyport/g)?.length ?? 0;
    const before = await connections();
    const store = await open(single(server));
    expect(await connections()).toBe(before + 2);
    await store.close();
    await store.close();
    await eventually(connections, (left) => left === before);
    await expect(store.get('a:1')).rejects.toMatchObject({ code: 'storage.unavailable' });
  });
});

describe('a server that goes away', () => {
  it('hangs: requests fail in time, then at once, and the rows are there when it is back', async () => {
    await using server = await startRedis();
    await using store = await open(single(server));
    await store.set('Grant:a', 'x', 100);
    server.pause();
    const took = async (): Promise<number> => {
      const start = performance.now();
      await expect(store.get('Grant:a')).rejects.toMatchObject({ code: 'storage.unavailable' });
      return performance.now() - start;
    };
    expect(await took()).toBeLessThan(QUICK.read + QUICK.write + 500);
    await sleep(QUICK.write);
    expect(await took()).toBeLessThan(200);
    server.resume();
    await eventually(() => store.isUp(), Boolean);
    expect(await store.get('Grant:a')).toBe('x');
  });

  it('is killed and started again: who waited gets an answer, and nothing is lost', async () => {
    await using server = await startRedis();
    await using store = await open({ ...single(server), timeouts: PATIENT });
    await store.set('Grant:a', 'x', 100);
    await server.kill();
    const waiting = [store.get('Grant:a'), store.swap('Grant:a', 'x', 'y', 100), store.members('g:1')];
    await sleep(300);
    await server.start();
    expect(await Promise.all(waiting)).toEqual(['x', true, []]);
  });

  it('cuts the connection after a command was carried out: what is repeated is told the truth', async () => {
    await using server = await startRedis();
    await using proxy = await startCuttingProxy(server);
    const plan = single({ ...server, port: proxy.port });
    const name = newName();
    await using store = await open({ ...plan, timeouts: PATIENT }, name);
    await using other = await open(single(server), name);

    proxy.cutAnswerTo('fresh value');
    expect(await store.add('Grant:a', 'fresh value', 100)).toBe(true);
    proxy.cutAnswerTo('rotated value');
    expect(await store.swap('Grant:a', 'fresh value', 'rotated value', 100)).toBe(true);
    expect(await other.get('Grant:a')).toBe('rotated value');
    proxy.cutAnswerTo('late value');
    expect(await store.swap('Grant:a', 'fresh value', 'late value', 100)).toBe(false);
    proxy.cutAnswerTo('refresh:a');
    const token = await store.lock('refresh:a', 100);
    expect(token).toBeDefined();
    expect(await other.lock('refresh:a', 100)).toBeUndefined();
    await store.unlock('refresh:a', token ?? '');
    expect(await other.lock('refresh:a', 100)).toBeDefined();
  });

  it('cuts the connection after a row was taken: nobody is told that there was none', async () => {
    await using server = await startRedis();
    await using proxy = await startCuttingProxy(server);
    const plan = single({ ...server, port: proxy.port });
    await using store = await open({ ...plan, timeouts: PATIENT });
    await store.set('code:a', 'x', 100);
    proxy.cutAnswerTo('GETDEL');
    await expect(store.take('code:a')).rejects.toMatchObject({ code: 'storage.unavailable' });
    expect(await store.take('code:a')).toBeUndefined();
  });

  it('stays away for so long that locks run out: who held one comes before all others', async () => {
    await using server = await startRedis();
    const name = newName();
    await using store = await open(single(server), name);
    await using other = await open(single(server), name);
    const token = (await store.lock('refresh:a', 2)) ?? '';
    await server.kill();
    await sleep(2_100);
    await server.start();
    for (const one of [store, other]) await eventually(async () => one.isUp(), Boolean, 5_000);
    expect(await other.lock('refresh:a', 2)).toBeUndefined();
    expect(await store.extend('refresh:a', token, 2)).toBe(false); // nobody has it
    expect(
      await eventually(
        () => other.lock('refresh:a', 2),
        (lock) => lock !== undefined,
        6_000,
      ),
    ).toBeDefined();
  });

  it('stays away for less than that: a lock that is free can be had at once', async () => {
    await using server = await startRedis();
    await using store = await open({ ...single(server), timeouts: PATIENT });
    await store.has('refresh:a');
    await server.kill();
    await sleep(300);
    await server.start();
    expect(await store.lock('refresh:a', 100)).toBeDefined();
  });

  it('a listener is told that it may have missed something', async () => {
    await using server = await startRedis();
    await using store = await open(single(server));
    const heard: string[] = [];
    store.subscribe('revoked', { heard: (text) => heard.push(text), listening: (is) => heard.push(`${is}`) });
    await eventually(
      () => heard.length,
      (count) => count === 1,
    );
    await server.kill();
    await eventually(
      () => heard.length,
      (count) => count === 2,
    );
    await server.start();
    await eventually(
      () => heard.length,
      (count) => count === 3,
    );
    await store.publish('revoked', 'a');
    await eventually(
      () => heard.length,
      (count) => count === 4,
    );
    expect(heard).toEqual(['true', 'false', 'true', 'a']);
  });

  it('requests that wait at the same time are bounded', async () => {
    await using server = await startRedis();
    await using store = await open({ ...single(server), timeouts: { ...QUICK, write: 3_000 } });
    await server.kill();
    await eventually(
      () => store.isUp(),
      (isUp) => !isUp,
    );
    const start = performance.now();
    const many = Array.from({ length: 1_500 }, () =>
      store.get('a:1').then(
        () => 0,
        () => performance.now() - start,
      ),
    );
    const times = await Promise.all(many);
    expect(times.filter((time) => time < 1_000).length).toBeGreaterThanOrEqual(500);
    expect(times.filter((time) => time >= 1_000).length).toBeGreaterThanOrEqual(900);
  });

  it('is not there at the start: the error says where and what to do', async () => {
    const server = await startRedis();
    await server[Symbol.asyncDispose]();
    const plan = { ...single(server), timeouts: { dial: 200, read: 200, write: 200 } };
    await expect(open(plan)).rejects.toMatchObject({
      code: 'storage.unavailable',
      message: `the store at ${server.address} is not available`,
      hint: expect.stringContaining('nothing listens there'),
    });
  });
});

describe('a server that sentinels watch over', () => {
  let set: RedisSentinels;
  beforeAll(async () => {
    set = await startSentinels();
  });
  afterAll(() => set[Symbol.asyncDispose]());

  describe('keeps the contract of a store', () => storeContract(() => startContract(watched(set))));
  describe('keeps the contract of locks', () => locksContract(() => startContract(watched(set))));

  it('a write is answered only when a replica knows it', async () => {
    const name = newName();
    await using store = await open(watched(set), name);
    await using reader = await open(watched(set), name);
    const master = await set.master();
    const replicas = set.servers.filter(({ port }) => port !== master.port);
    for (const replica of replicas) replica.pause();
    let isAnswered = false;
    const writing = store.set('Grant:a', 'x', 100).then(() => {
      isAnswered = true;
    });
    try {
      while ((await reader.get('Grant:a')) === undefined) await sleep(1);
      expect(isAnswered).toBe(false);
    } finally {
      for (const replica of replicas) replica.resume();
    }
    await writing;
    const known = await Promise.all(replicas.map((replica) => replica.cli('get', `{sally:${name}}:Grant:a`)));
    expect(known.map((text) => text.trim())).toContain('x');
  });

  it('goes on, and says so, when no replica answers', async () => {
    const lines: string[] = [];
    const log = createLog({ level: 'info', format: 'text', write: (line) => lines.push(line), now: () => new Date() });
    await using store = await open(watched(set), newName(), log);
    const master = await set.master();
    const replicas = set.servers.filter(({ port }) => port !== master.port);
    for (const replica of replicas) replica.pause();
    try {
      const start = performance.now();
      await Promise.all(Array.from({ length: 50 }, (_, n) => store.set(`a:${n}`, 'x', 100)));
      expect(performance.now() - start).toBeLessThan(2_000);
    } finally {
      for (const replica of replicas) replica.resume();
    }
    expect(lines.filter((line) => line.includes('no replica confirms writes'))).toHaveLength(1);
  });
});

/** Counters that one worker each swaps on, as rotating refresh tokens are, until it is told to stop. */
function startLoad(store: Store, workers: number) {
  let isOver = false;
  const failures: unknown[] = [];
  const wrong: string[] = [];
  async function work(key: string): Promise<{ key: string; acknowledged: number }> {
    await store.set(key, '0', 1_000);
    let acknowledged = 0;
    while (!isOver) {
      try {
        const isSwapped = await store.swap(key, String(acknowledged), String(acknowledged + 1), 1_000);
        if (!isSwapped) wrong.push(`${key}: nobody else writes it, but it is not ${acknowledged}`);
        acknowledged++;
      } catch (error) {
        failures.push(error);
        await sleep(20);
      }
    }
    return { key, acknowledged };
  }
  const all = Array.from({ length: workers }, (_, n) => work(`rotating:${n}`));
  return {
    failures,
    wrong,
    stop: () => {
      isOver = true;
      return Promise.all(all);
    },
  };
}

describe('a master that fails', () => {
  it('killed under load: every acknowledged write is there, and no request fails while another is chosen', async () => {
    await using set = await startSentinels();
    await using store = await open(watched(set));
    for (let n = 0; n < 50; n++) await store.set(`code:${n}`, `value ${n}`, 1_000);
    const load = startLoad(store, 30);
    await sleep(300);
    const taken = await Promise.all(Array.from({ length: 25 }, (_, n) => store.take(`code:${n}`)));
    const killed = await set.killMaster();
    await eventually(
      () => set.master(),
      ({ port }) => port !== killed.port,
      15_000,
    );
    await eventually(() => store.isUp(), Boolean, 15_000);
    await sleep(500);
    const ends = await load.stop();

    expect(load.failures).toEqual([]);
    expect(load.wrong).toEqual([]);
    for (const { key, acknowledged } of ends) {
      expect(acknowledged).toBeGreaterThan(1);
      expect(await store.get(key)).toBe(String(acknowledged));
    }
    expect(taken).toEqual(Array.from({ length: 25 }, (_, n) => `value ${n}`));
    for (let n = 0; n < 50; n++) expect(await store.take(`code:${n}`)).toBe(n < 25 ? undefined : `value ${n}`);
  });

  it('hangs and comes back later: it is not believed again', async () => {
    await using set = await startSentinels();
    await using store = await open(watched(set));
    const load = startLoad(store, 10);
    await sleep(300);
    const old = await set.master();
    old.pause();
    await eventually(
      () => set.master(),
      ({ port }) => port !== old.port,
      15_000,
    );
    await eventually(() => store.isUp(), Boolean, 15_000);
    await store.set('Grant:a', 'written while it hung', 1_000);
    old.resume();
    await sleep(1_500);
    const ends = await load.stop();
    expect(load.wrong).toEqual([]);
    for (const { key, acknowledged } of ends) expect(await store.get(key)).toBe(String(acknowledged));
    expect(await store.get('Grant:a')).toBe('written while it hung');
  });

  it('is replaced while it works well: nothing that it was told last is lost', async () => {
    await using set = await startSentinels();
    await using store = await open(watched(set));
    const load = startLoad(store, 20);
    await sleep(300);
    const old = await set.master();
    await set.sentinels[0]?.cli('sentinel', 'failover', set.masterName);
    await eventually(
      () => set.master(),
      ({ port }) => port !== old.port,
      15_000,
    );
    await sleep(2_000);
    const ends = await load.stop();
    expect(load.failures).toEqual([]);
    expect(load.wrong).toEqual([]);
    for (const { key, acknowledged } of ends) expect(await store.get(key)).toBe(String(acknowledged));
  });

  it('other sentinels are learnt from one, which may then die with the master', async () => {
    await using set = await startSentinels();
    const plan = watched(set);
    const [first] = set.sentinels;
    if (!first || plan.servers.kind !== 'sentinel') throw new Error('no sentinel was started');
    const one = { ...plan.servers, sentinels: [{ host: '127.0.0.1', port: first.port }] };
    await using store = await open({ ...plan, servers: one });
    await store.set('Grant:a', 'x', 100);
    await sleep(1_500);
    await set.killMaster();
    await first.kill();
    expect(await store.get('Grant:a')).toBe('x');
  });
});

describe('a cluster', () => {
  let cluster: RedisCluster;
  beforeAll(async () => {
    cluster = await startCluster();
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  describe('keeps the contract of a store', () => storeContract(() => startContract(clustered(cluster))));
  describe('keeps the contract of locks', () => locksContract(() => startContract(clustered(cluster))));

  it('words reach those who listen to another server of it', async () => {
    const name = newName();
    const [, second] = cluster.servers;
    await using one = await open(clustered(cluster), name);
    await using two = await open(clustered({ ...cluster, servers: second ? [second] : [] }), name);
    const heard: string[] = [];
    two.subscribe('revoked', { heard: (text) => heard.push(text), listening: (is) => heard.push(`${is}`) });
    await eventually(
      () => heard.length,
      (count) => count === 1,
    );
    await one.publish('revoked', 'a');
    expect(
      await eventually(
        () => heard,
        (words) => words.length === 2,
      ),
    ).toEqual(['true', 'a']);
  });

  it('a server that hangs makes requests fail in time', async () => {
    await using own = await startCluster();
    await using store = await open(clustered(own));
    for (const server of own.servers) server.pause();
    const start = performance.now();
    await expect(store.get('a:1')).rejects.toMatchObject({ code: 'storage.unavailable' });
    expect(performance.now() - start).toBeLessThan(QUICK.read + QUICK.write + 1_000);
    for (const server of own.servers) server.resume();
    await eventually(
      () => store.get('a:1').catch(() => 'not yet'),
      (value) => value === undefined,
      15_000,
    );
  });
});

describe('accounts and certificates', () => {
  /** What a store is refused with, and everything that could be seen of it. */
  async function refusal(plan: RedisPlan): Promise<{ readonly hint: string; readonly shown: string }> {
    const lines: string[] = [];
    const log = createLog({ level: 'debug', format: 'text', write: (line) => lines.push(line), now: () => new Date() });
    const error = await open(plan, newName(), log).then(
      () => expect.fail('it was let in'),
      (thrown: unknown) => thrown,
    );
    expect(error).toMatchObject({ code: 'storage.unavailable' });
    const shown = inspect(error, { depth: 10, showHidden: true }) + lines.join('');
    return { hint: (error as { hint: string }).hint, shown };
  }

  const account = (password: string) => ({ username: new Secret('sally'), password: new Secret(password) });
  const SHORT = { dial: 500, read: 500, write: 500 };

  it('a wrong password is refused at the start, and shown nowhere', async () => {
    await using server = await startRedis({ account: { user: 'sally', password: PASSWORD } });
    const plan = { ...single(server), timeouts: SHORT };
    expect((await refusal(plan)).hint).toMatch('set aclUserConfig');
    const wrong = await refusal({ ...plan, account: account('wrong-horse') });
    expect(wrong.hint).toMatch('check aclUserConfig');
    expect(wrong.shown).not.toContain('wrong-horse');
    await using store = await open({ ...plan, account: account(PASSWORD) });
    await store.set('a:1', 'x', 10);
    expect(await store.get('a:1')).toBe('x');
  });

  it('a password that is changed while it runs: requests fail, and the password is shown nowhere', async () => {
    const admin = ['--user', 'admin', '--pass', 'of-the-admin'];
    await using server = await startRedis({
      account: { user: 'sally', password: PASSWORD },
      lines: ['user admin on >of-the-admin ~* &* +@all'],
    });
    await using store = await open({ ...single(server), account: account(PASSWORD) });
    await server.cli(...admin, 'acl', 'setuser', 'sally', 'resetpass', '>another');
    await server.cli(...admin, 'client', 'kill', 'type', 'normal');
    const error = await store.get('a:1').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'storage.unavailable', hint: expect.stringContaining('aclUserConfig') });
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain(PASSWORD);
    await server.cli(...admin, 'acl', 'setuser', 'sally', `>${PASSWORD}`);
    await eventually(() => store.isUp(), Boolean);
    expect(await store.get('a:1')).toBeUndefined();
  });

  it('the account that the documentation describes may do everything that is needed', async () => {
    const page = readFileSync(join(ROOT, 'docs/storage.md'), 'utf8');
    const rule = /^user sally on >PASSWORD (.+)$/m.exec(page)?.[1] ?? '';
    expect(rule).toContain('-@all');
    await using server = await startRedis({ lines: [`user sally on >${PASSWORD} ${rule}`] });
    await using store = await open({ ...single(server), account: account(PASSWORD) });
    const heard: string[] = [];
    store.subscribe('revoked', { heard: (text) => heard.push(text), listening: (is) => heard.push(`${is}`) });
    await eventually(
      () => heard.length,
      (count) => count === 1,
    );
    await store.publish('revoked', 'a');
    await eventually(
      () => heard.length,
      (count) => count === 2,
    );
    await using cluster = await startCluster({ lines: [`user sally on >${PASSWORD} ${rule}`] });
    await using other = await open({ ...clustered(cluster), account: account(PASSWORD) });
    expect(await other.take('a:1')).toBeUndefined();
  });

  it('an account that may not run scripts is noticed at the start', async () => {
    await using server = await startRedis({ lines: [`user sally on >${PASSWORD} ~* &* +@all -eval`] });
    const { hint } = await refusal({ ...single(server), timeouts: SHORT, account: account(PASSWORD) });
    expect(hint).toMatch('docs/storage.md');
  });

  it('a replica is no store', async () => {
    await using master = await startRedis();
    await using replica = await startRedis({ lines: [`replicaof 127.0.0.1 ${master.port}`] });
    expect((await refusal({ ...single(replica), timeouts: SHORT })).hint).toMatch('it is a replica');
  });

  it('TLS and accounts for servers and sentinels, also after a failover', async () => {
    await using folder = await tempFolder();
    const certificates = await makeCertificates(folder.path);
    await using set = await startSentinels({
      tls: certificates,
      account: { user: 'sally', password: PASSWORD },
      sentinelPassword: 'of-the-sentinels',
    });
    const trusted = { ca: readFileSync(certificates.ca, 'utf8'), verify: true };
    const { servers } = watched(set);
    if (servers.kind !== 'sentinel') throw new Error('not what was asked for');
    const plan = {
      kind: 'redis',
      servers: { ...servers, tls: trusted, account: { password: new Secret('of-the-sentinels') } },
      tls: trusted,
      account: account(PASSWORD),
      timeouts: PATIENT,
    } as const satisfies RedisPlan;
    await using store = await open(plan);
    await store.set('Grant:a', 'x', 100);
    await set.killMaster();
    expect(await store.get('Grant:a')).toBe('x');

    const stranger = await makeCertificates(join(folder.path, 'stranger'));
    const distrust = { ca: readFileSync(stranger.ca, 'utf8'), verify: true };
    expect((await refusal({ ...plan, tls: distrust, timeouts: SHORT })).hint).toMatch('caCertSecretRef');
    const suspicious = { ...plan, servers: { ...plan.servers, tls: distrust }, timeouts: SHORT };
    expect((await refusal(suspicious)).hint).toMatch('caCertSecretRef');
    const wrong = { ...plan, servers: { ...plan.servers, account: { password: new Secret('not-theirs') } } };
    const told = await refusal({ ...wrong, timeouts: SHORT });
    expect(told.hint).toMatch('sentinelAclUserConfig');
    expect(told.shown).not.toContain('not-theirs');
    const unknown = { ...plan, servers: { ...plan.servers, masterName: 'somebody' }, timeouts: SHORT };
    expect((await refusal(unknown)).hint).toMatch('check masterName');
    const anybody = { ca: readFileSync(stranger.ca, 'utf8'), verify: false };
    await using careless = await open({ ...plan, tls: anybody, servers: { ...plan.servers, tls: anybody } });
    expect(careless.isUp()).toBe(true);
  });
});
