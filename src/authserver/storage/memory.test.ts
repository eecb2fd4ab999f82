import { describe, expect, it } from 'vitest';
import { type StoreUnderTest, storeContract } from '../../../test/support/store-contract.ts';
import { createMemoryStore, type MemoryStoreOptions } from './memory.ts';

function startMemory(options: Omit<MemoryStoreOptions, 'now'> = {}) {
  let time = 1_000_000;
  const store = createMemoryStore({ ...options, now: () => time });
  const pass = async (seconds: number) => {
    time += seconds * 1000;
  };
  return { store, other: store, pass, [Symbol.asyncDispose]: () => store.close() };
}

describe('the contract of a store, in memory', () => {
  storeContract(async (): Promise<StoreUnderTest> => startMemory());
});

describe('bounds of the memory', () => {
  const shelves = {
    idle: { most: 3, whenFull: 'drop' },
    pending: { most: 2, whenFull: 'refuse' },
  } as const;

  it('tells at once whether there is a row', () => {
    const { store } = startMemory();
    void store.set('grant:a', 'x', 10);
    expect(store.has('grant:a')).toBe(true);
  });

  it('drops the row of a kind that was not used for the longest time', async () => {
    const { store } = startMemory({ shelves });
    for (const name of ['a', 'b', 'c']) await store.set(`idle:${name}`, 'x', 100);
    await store.get('idle:a');
    await store.set('idle:d', 'x', 100);
    expect(['a', 'b', 'c', 'd'].filter((name) => store.has(`idle:${name}`))).toEqual(['a', 'c', 'd']);
  });

  it('refuses another row of a kind that must not be dropped, until one runs out', async () => {
    const { store, pass } = startMemory({ shelves });
    await store.set('pending:a', 'x', 5);
    await store.set('pending:b', 'x', 50);
    await expect(store.set('pending:c', 'x', 50)).rejects.toMatchObject({ code: 'storage.full' });
    await expect(store.add('pending:c', 'x', 50)).rejects.toMatchObject({ code: 'storage.full' });
    await store.set('pending:b', 'changed', 50);
    await pass(6);
    await store.set('pending:c', 'x', 50);
    expect(store.has('pending:c')).toBe(true);
  });

  it('a flood of what can be dropped makes room for what stands, and never the other way round', async () => {
    const { store } = startMemory({ maxRows: 10, shelves: { idle: { most: 100, whenFull: 'drop' } } });
    for (let n = 0; n < 50; n++) await store.set(`idle:${n}`, 'x', 100);
    for (let n = 0; n < 10; n++) await store.set(`Grant:${n}`, 'x', 100);
    await expect(store.set('idle:more', 'x', 100)).rejects.toMatchObject({ code: 'storage.full' });
    expect(Array.from({ length: 10 }, (_, n) => store.has(`Grant:${n}`))).toEqual(Array(10).fill(true));
    expect(store.report().rows).toBe(10);
  });

  it('counts bytes as well as rows, and gives them back', async () => {
    const { store } = startMemory({ maxBytes: 10_000 });
    await store.set('a:1', 'x'.repeat(5_000), 100);
    await expect(store.set('a:2', 'x'.repeat(5_000), 100)).rejects.toMatchObject({ code: 'storage.full' });
    await store.remove(['a:1']);
    expect(store.report()).toEqual({ rows: 0, bytes: 0 });
    await store.set('a:2', 'x'.repeat(5_000), 100);
  });

  it('a full store still lets a row that stands change', async () => {
    const { store } = startMemory({ maxRows: 2 });
    await store.set('Grant:1', 'x', 100);
    await store.set('Grant:2', 'x', 100);
    expect(await store.swap('Grant:1', 'x', 'y', 100)).toBe(true);
    await store.set('Grant:2', 'y', 100);
    expect(await store.get('Grant:1')).toBe('y');
  });

  it('what has run out does not take up room', async () => {
    const { store, pass } = startMemory({ maxRows: 4 });
    for (const name of ['a', 'b']) {
      await store.join('g:1', name, 5);
      await store.set(`row:${name}`, 'x', 5);
    }
    await pass(6);
    for (const name of ['c', 'd', 'e', 'f']) await store.set(`row:${name}`, 'x', 5);
    expect(store.report().rows).toBe(4);
  });
});
