import { describe, expect, it } from 'vitest';
import { silentLog } from '../base/index.ts';
import { createGrants, type Grants } from './grants.ts';
import { createServerSecrets } from './secrets.ts';
import { type Broadcast, createMemoryBroadcast, type Listener } from './storage/broadcast.ts';
import { grantGroup, KIND } from './storage/kinds.ts';
import { createMemoryStore } from './storage/memory.ts';
import { createRecords, type Records } from './storage/records.ts';
import type { Store } from './storage/store.ts';

const OLD = Buffer.alloc(32, 7);
const NEW = Buffer.alloc(32, 8);

/** Several processes with a store elsewhere: it answers later, and words reach everybody or nobody. */
function start(secrets: readonly (readonly [Buffer, ...Buffer[]])[] = [[OLD], [OLD]]) {
  let now = 0;
  let reads = 0;
  const memory = createMemoryStore({ now: () => now });
  const store: Store = {
    ...memory,
    async has(key) {
      reads += 1;
      return memory.has(key);
    },
  };
  const words = createMemoryBroadcast();
  const listeners: Listener[] = [];
  const broadcast: Broadcast = {
    publish: words.publish,
    subscribe(channel, listener) {
      listeners.push(listener);
      return words.subscribe(channel, listener);
    },
  };
  const ended: string[] = [];
  const processes = secrets.map((own): { grants: Grants; records: Records } => {
    const records = createRecords(store, createServerSecrets('a/b', own));
    const ending = async (grantId: string) => () => void ended.push(grantId);
    return { records, grants: createGrants({ records, broadcast, ending, log: silentLog, now: () => now }) };
  });
  const [first, second] = processes as [(typeof processes)[number], (typeof processes)[number]];
  return {
    here: first.grants,
    there: second.grants,
    memory,
    listeners,
    ended,
    words,
    reads: () => reads,
    wait: (seconds: number) => (now += seconds * 1000),
    begin: (id: string, { records } = first) =>
      records.rows(KIND.grant).put(id, {}, { ttl: 3600, groups: [grantGroup(records, id)] }),
    second,
  };
}

describe('a login', () => {
  it('stands until it is ended, in every process at once', async () => {
    const { here, there, begin, ended } = start();
    await begin('grant');
    expect(await here.isLive('grant')).toBe(true);
    expect(await there.isLive('grant')).toBe(true);
    await here.end('grant');
    expect(await here.isLive('grant')).toBe(false);
    expect(await there.isLive('grant')).toBe(false);
    expect(ended).toEqual(['grant']);
  });

  it('has ended, and everybody hears of it, although somebody who heard of it failed', async () => {
    const { here, there, begin } = start();
    await begin('grant');
    const heard: string[] = [];
    for (const [name, grants] of Object.entries({ here, there })) {
      expect(await grants.isLive('grant')).toBe(true);
      grants.onEnded(() => {
        throw new Error('a stream cannot be closed');
      });
      grants.onEnded(() => heard.push(name));
    }
    await here.end('grant');
    // Here twice: by itself, and by the word that went to all.
    expect(new Set(heard)).toEqual(new Set(['here', 'there']));
  });

  it('that was never made does not stand', async () => {
    expect(await start().here.isLive('grant')).toBe(false);
  });

  it('is not looked up for each call, and the answer is there at once', async () => {
    const { here, begin, reads } = start();
    await begin('grant');
    await here.isLive('grant');
    for (let call = 0; call < 100; call++) expect(here.isLive('grant')).toBe(true);
    expect(reads()).toBe(1);
  });

  it('is looked up again after a while, because words can get lost', async () => {
    const { here, begin, memory, wait } = start();
    await begin('grant');
    await here.isLive('grant');
    await memory.close();
    expect(here.isLive('grant')).toBe(true);
    wait(31);
    expect(await here.isLive('grant')).toBe(false);
  });

  it('is looked up for each call while words may be missed, and after that', async () => {
    const { here, begin, memory, listeners } = start();
    await begin('grant');
    await here.isLive('grant');
    listeners[0]?.listening(false);
    expect(here.isLive('grant')).toBeInstanceOf(Promise);
    await memory.close();
    listeners[0]?.listening(true);
    expect(await here.isLive('grant')).toBe(false);
  });

  it('that ends while it is looked up is not remembered', async () => {
    const { here, there, begin, memory } = start();
    await begin('grant');
    const { promise, resolve } = Promise.withResolvers<void>();
    const has = memory.has.bind(memory);
    const asked = promise.then(() => true);
    memory.has = () => asked as never;
    const looking = here.isLive('grant');
    memory.has = has;
    await there.end('grant');
    resolve();
    await looking; // it was asked before the end
    expect(await here.isLive('grant')).toBe(false);
  });

  it('ends everywhere while the secrets are being replaced', async () => {
    const { here, there, begin, second } = start([[NEW, OLD], [OLD]]);
    await begin('grant', second);
    expect(await here.isLive('grant')).toBe(true);
    expect(await there.isLive('grant')).toBe(true);
    await there.end('grant');
    expect(await here.isLive('grant')).toBe(false);
    await begin('another', second);
    expect(await there.isLive('another')).toBe(true);
    await here.end('another');
    expect(await there.isLive('another')).toBe(false);
  });

  it('is ended once, however many ask for it at the same time', async () => {
    const { here, begin, ended } = start();
    await begin('grant');
    await Promise.all([here.end('grant'), here.end('grant'), here.end('grant')]);
    expect(ended).toEqual(['grant']);
  });

  it('ends although nobody can be told', async () => {
    const { here, begin, words } = start();
    await begin('grant');
    words.publish = async () => {
      throw new Error('away');
    };
    await here.end('grant');
    expect(await here.isLive('grant')).toBe(false);
  });
});
