import { describe, expect, it } from 'vitest';
import { Secret } from '../../base/index.ts';
import { createServerSecrets } from '../secrets.ts';
import { createMemoryStore } from './memory.ts';
import { createRecords } from './records.ts';
import type { Store } from './store.ts';

const OLD = new Secret('old secret, which is long enough for this');
const NEW = new Secret('new secret, which is long enough for this');

function memory(): { readonly store: Store; readonly seen: Map<string, string> } {
  const store = createMemoryStore({ now: Date.now });
  const seen = new Map<string, string>();
  const set = store.set;
  return {
    seen,
    store: {
      ...store,
      async set(key, value, ttl) {
        seen.set(key, value);
        await set(key, value, ttl);
      },
    },
  };
}

const recordsWith = (store: Store, ...secrets: [Secret, ...Secret[]]) =>
  createRecords(store, createServerSecrets('default/test', secrets));

describe('sealed rows', () => {
  it('neither id nor value can be seen in the store', async () => {
    const { store, seen } = memory();
    await recordsWith(store, NEW).rows('code').put('the-id-is-a-secret', { token: 'also-secret' }, { ttl: 10 });
    const [[key, value]] = [...seen] as [[string, string]];
    expect(key).toMatch(/^code:[\w-]{43}$/);
    expect(`${key}${value}`).not.toContain('secret');
    expect(Buffer.from(value.split('.')[1] ?? '', 'base64url').toString('latin1')).not.toContain('secret');
  });

  it('another secret, another server or another kind finds nothing', async () => {
    const { store } = memory();
    await recordsWith(store, NEW).rows('code').put('id', 'value', { ttl: 10 });
    expect(await recordsWith(store, NEW).rows('code').get('id')).toBe('value');
    expect(await recordsWith(store, OLD).rows('code').get('id')).toBeUndefined();
    expect(await recordsWith(store, NEW).rows('other').get('id')).toBeUndefined();
    const elsewhere = createRecords(store, createServerSecrets('default/elsewhere', [NEW]));
    expect(await elsewhere.rows('code').get('id')).toBeUndefined();
  });

  it('a value moved to another row, or changed, is not read', async () => {
    const { store, seen } = memory();
    const rows = recordsWith(store, NEW).rows('code');
    await rows.put('mine', 'mine', { ttl: 10 });
    await rows.put('yours', 'yours', { ttl: 10 });
    const [[mine, mineText], [yours]] = [...seen] as [[string, string], [string, string]];
    await store.set(yours, mineText, 10);
    expect(await rows.get('yours')).toBeUndefined();
    await store.set(mine, `${mineText.slice(0, -2)}AA`, 10);
    expect(await rows.get('mine')).toBeUndefined();
  });

  it('with several secrets the first writes and all read', async () => {
    const { store } = memory();
    const before = recordsWith(store, OLD).rows('token');
    await before.put('old', 1, { ttl: 10 });
    const rotated = recordsWith(store, NEW, OLD).rows('token');
    expect(await rotated.get('old')).toBe(1);
    expect(rotated.has('old')).toBe(true);
    expect(rotated.has('none')).toBe(false);
    expect(await rotated.add('old', 2, { ttl: 10 })).toBe(false);
    await rotated.put('new', 3, { ttl: 10 });
    expect(await before.get('new')).toBeUndefined();
  });

  it('a row of an old secret is replaced, swapped, taken and removed like any other', async () => {
    const { store } = memory();
    const before = recordsWith(store, OLD).rows<number>('token');
    const rotated = recordsWith(store, NEW, OLD).rows<number>('token');
    for (const id of ['put', 'swap', 'take', 'remove']) await before.put(id, 1, { ttl: 10 });

    await rotated.put('put', 2, { ttl: 10 });
    expect([await before.get('put'), await rotated.get('put')]).toEqual([undefined, 2]);

    const found = await rotated.find('swap');
    expect(found && (await rotated.swap(found.version, 2, { ttl: 10 }))).toBe(true);
    expect(found && (await rotated.swap(found.version, 3, { ttl: 10 }))).toBe(false);
    expect(await rotated.get('swap')).toBe(2);

    expect(await rotated.take('take')).toBe(1);
    expect(await rotated.take('take')).toBeUndefined();
    await rotated.remove('remove');
    expect(await before.get('remove')).toBeUndefined();
  });

  it('a group ends with all its rows, of whatever kind and secret', async () => {
    const { store } = memory();
    const before = recordsWith(store, OLD);
    await before.rows('token').put('t', 1, { ttl: 10, groups: [before.group('grant', 'g')] });
    const now = recordsWith(store, NEW, OLD);
    const group = now.group('grant', 'g');
    await now.rows('code').put('c', 1, { ttl: 10, groups: [group] });
    await now.rows('code').put('other', 1, { ttl: 10, groups: [now.group('grant', 'h')] });
    await now.removeGroup(group);
    expect([await now.rows('token').get('t'), await now.rows('code').get('c')]).toEqual([undefined, undefined]);
    expect(await now.rows('code').get('other')).toBe(1);
  });

  it('asks for secrets of at least 32 bytes, and names the one that is too short', () => {
    expect(() => createServerSecrets('s', [NEW, new Secret('x'.repeat(31))])).toThrow(
      /hmacSecretRefs\[1\] has 31 bytes/,
    );
  });
});
