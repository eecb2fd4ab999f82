import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Store } from '../../src/authserver/storage/store.ts';

/** A store to be tested, and how to let time pass for it. */
export interface StoreUnderTest extends AsyncDisposable {
  readonly store: Store;
  /** Another connection to the same rows, as another process has it. */
  readonly other: Store;
  pass(seconds: number): Promise<void>;
}

const LONG = 1000;
const RUNNERS = 25;

/** What every store promises, whatever it is made of. `key` makes keys of their own for a test that shares its server with others. */
export function storeContract(start: () => Promise<StoreUnderTest>, key = (name: string) => `kind:${name}`): void {
  const test = (name: string, run: (under: StoreUnderTest) => Promise<void>) =>
    it(name, async () => {
      await using under = await start();
      await run(under);
    });

  /** Calls that start together, half of them over another connection. */
  const race = <T>({ store, other }: StoreUnderTest, run: (store: Store, runner: number) => Promise<T>) =>
    Promise.all(Array.from({ length: RUNNERS }, (_, runner) => run(runner % 2 === 0 ? store : other, runner)));

  describe('rows', () => {
    test('gives what was written, and nothing for what was not', async ({ store }) => {
      await store.set(key('a'), 'one', LONG);
      expect(await store.get(key('a'))).toBe('one');
      expect(await store.has(key('a'))).toBe(true);
      expect(await store.get(key('b'))).toBeUndefined();
      expect(await store.has(key('b'))).toBe(false);
    });

    test('keeps every character of a value', async ({ store }) => {
      const value = 'ä€🜁\u0000\n"\\ {"json":true}';
      await store.set(key('a'), value, LONG);
      expect(await store.get(key('a'))).toBe(value);
    });

    test('a row ends after its time, and no sooner', async ({ store, pass }) => {
      await store.set(key('a'), 'one', 5);
      await pass(3);
      expect(await store.get(key('a'))).toBe('one');
      await pass(3);
      expect(await store.get(key('a'))).toBeUndefined();
      expect(await store.has(key('a'))).toBe(false);
      expect(await store.take(key('a'))).toBeUndefined();
    });

    test('writing again gives a new value and a new time', async ({ store, pass }) => {
      await store.set(key('a'), 'one', 5);
      await store.set(key('a'), 'two', 20);
      await pass(8);
      expect(await store.get(key('a'))).toBe('two');
    });

    test('removes several rows, and does not mind the ones that are not there', async ({ store }) => {
      await store.set(key('a'), 'one', LONG);
      await store.set(key('b'), 'two', LONG);
      await store.remove([key('a'), key('b'), key('c')]);
      await store.remove([]);
      expect(await store.get(key('a'))).toBeUndefined();
      expect(await store.get(key('b'))).toBeUndefined();
    });
  });

  describe('add', () => {
    test('does not touch a row that is there', async ({ store }) => {
      expect(await store.add(key('a'), 'one', LONG)).toBe(true);
      expect(await store.add(key('a'), 'two', LONG)).toBe(false);
      expect(await store.get(key('a'))).toBe('one');
    });

    test('writes where a row has run out', async ({ store, pass }) => {
      await store.add(key('a'), 'one', 2);
      await pass(4);
      expect(await store.add(key('a'), 'two', LONG)).toBe(true);
      expect(await store.get(key('a'))).toBe('two');
    });

    test('of many at the same time one succeeds, and its value stays', async (under) => {
      const added = await race(under, (store, runner) => store.add(key('a'), `value of ${runner}`, LONG));
      expect(added.filter(Boolean)).toHaveLength(1);
      expect(await under.store.get(key('a'))).toBe(`value of ${added.indexOf(true)}`);
    });
  });

  describe('swap', () => {
    test('writes only over the value that was read', async ({ store }) => {
      await store.set(key('a'), 'one', LONG);
      expect(await store.swap(key('a'), 'another', 'two', LONG)).toBe(false);
      expect(await store.get(key('a'))).toBe('one');
      expect(await store.swap(key('a'), 'one', 'two', LONG)).toBe(true);
      expect(await store.get(key('a'))).toBe('two');
    });

    test('does not bring back a row that is gone', async ({ store, pass }) => {
      await store.set(key('a'), 'one', 2);
      await pass(4);
      expect(await store.swap(key('a'), 'one', 'two', LONG)).toBe(false);
      expect(await store.swap(key('b'), 'one', 'two', LONG)).toBe(false);
      expect(await store.get(key('a'))).toBeUndefined();
    });

    test('of many at the same time one succeeds', async (under) => {
      await under.store.set(key('a'), 'start', LONG);
      const swapped = await race(under, (store, runner) => store.swap(key('a'), 'start', `value of ${runner}`, LONG));
      expect(swapped.filter(Boolean)).toHaveLength(1);
      expect(await under.store.get(key('a'))).toBe(`value of ${swapped.indexOf(true)}`);
    });

    test('a counter that is swapped until it succeeds loses no count', async (under) => {
      await under.store.set(key('n'), '0', LONG);
      await race(under, async (store) => {
        for (;;) {
          const read = (await store.get(key('n'))) ?? '';
          if (await store.swap(key('n'), read, String(Number(read) + 1), LONG)) return;
          await sleep(0);
        }
      });
      expect(await under.store.get(key('n'))).toBe(String(RUNNERS));
    });
  });

  describe('take', () => {
    test('gives a row once', async ({ store }) => {
      await store.set(key('a'), 'one', LONG);
      expect(await store.take(key('a'))).toBe('one');
      expect(await store.take(key('a'))).toBeUndefined();
      expect(await store.get(key('a'))).toBeUndefined();
    });

    test('of many at the same time one gets it', async (under) => {
      await under.store.set(key('a'), 'one', LONG);
      const taken = await race(under, (store) => store.take(key('a')));
      expect(taken.filter((value) => value === 'one')).toHaveLength(1);
      expect(taken.filter((value) => value === undefined)).toHaveLength(RUNNERS - 1);
    });

    test('a take and a swap at the same time do not both succeed', async (under) => {
      for (let round = 0; round < 20; round++) {
        await under.store.set(key('a'), 'one', LONG);
        const [taken, swapped] = await Promise.all([
          under.store.take(key('a')),
          under.other.swap(key('a'), 'one', 'two', LONG),
        ]);
        expect([taken === 'one', swapped]).not.toEqual([true, true]);
        await under.store.remove([key('a')]);
      }
    });
  });

  describe('groups', () => {
    test('knows its members until they leave', async ({ store, other }) => {
      await store.join(key('g'), 'a', LONG);
      await other.join(key('g'), 'b', LONG);
      await store.join(key('g'), 'a', LONG);
      expect([...(await store.members(key('g')))].sort()).toEqual(['a', 'b']);
      await store.leave(key('g'), 'a');
      expect(await store.members(key('g'))).toEqual(['b']);
      expect(await store.members(key('h'))).toEqual([]);
    });

    test('a later member makes the group live longer, a shorter one does not end it', async ({ store, pass }) => {
      await store.join(key('g'), 'a', 20);
      await store.join(key('g'), 'b', 2);
      await pass(5);
      expect(await store.members(key('g'))).toContain('a');
      await pass(20);
      expect(await store.members(key('g'))).toEqual([]);
    });

    test('many join at the same time', async (under) => {
      await race(under, (store, runner) => store.join(key('g'), `member ${runner}`, LONG));
      expect(await under.store.members(key('g'))).toHaveLength(RUNNERS);
    });
  });
}
