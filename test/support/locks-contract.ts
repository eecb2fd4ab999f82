import { expect, it } from 'vitest';
import type { Locks } from '../../src/authserver/storage/locks.ts';

export interface LocksUnderTest extends AsyncDisposable {
  readonly locks: Locks;
  /** Those of another process. */
  readonly other: Locks;
  pass(seconds: number): Promise<void>;
}

/** What every kind of locks promises. */
export function locksContract(start: () => Promise<LocksUnderTest>): void {
  it('of many at the same time one gets the lock', async () => {
    await using under = await start();
    const tokens = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 === 0 ? under.locks : under.other).lock('refresh:a', 100)),
    );
    expect(tokens.filter((token) => token !== undefined)).toHaveLength(1);
  });

  it('a lock that was opened can be had again, and others are not touched', async () => {
    await using under = await start();
    const token = await under.locks.lock('refresh:a', 100);
    expect(await under.other.lock('refresh:b', 100)).toBeDefined();
    await under.locks.unlock('refresh:a', token ?? '');
    expect(await under.other.lock('refresh:a', 100)).toBeDefined();
    expect(await under.locks.lock('refresh:b', 100)).toBeUndefined();
  });

  it('stays locked for who extends it in time, and for nobody else', async () => {
    await using under = await start();
    const token = (await under.locks.lock('refresh:a', 2)) ?? '';
    expect(await under.other.extend('refresh:a', 'another token', 100)).toBe(false);
    expect(await under.locks.extend('refresh:a', token, 100)).toBe(true);
    await under.pass(4);
    expect(await under.other.lock('refresh:a', 100)).toBeUndefined();
    await under.locks.unlock('refresh:a', token);
    expect(await under.locks.extend('refresh:a', token, 100)).toBe(false);
  });

  it('opens by itself, and then its old token opens nothing', async () => {
    await using under = await start();
    const old = await under.locks.lock('refresh:a', 2);
    await under.pass(4);
    const token = await under.other.lock('refresh:a', 100);
    expect(token).toBeDefined();
    expect(token).not.toBe(old);
    await under.locks.unlock('refresh:a', old ?? '');
    expect(await under.locks.lock('refresh:a', 100)).toBeUndefined();
  });
}
