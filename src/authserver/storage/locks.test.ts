import { describe, expect, it } from 'vitest';
import { locksContract } from '../../../test/support/locks-contract.ts';
import { createMemoryLocks } from './locks.ts';

function startLocks() {
  let time = 0;
  const locks = createMemoryLocks(() => time);
  const pass = async (seconds: number): Promise<void> => {
    time += seconds * 1000;
  };
  return { locks, other: locks, pass, [Symbol.asyncDispose]: async () => {} };
}

describe('the contract of locks, in memory', () => {
  locksContract(async () => startLocks());
});

it('locks that nobody opened do not make others wait longer than their time', async () => {
  const { locks, pass } = startLocks();
  for (let n = 0; n < 5_000; n++) await locks.lock(`refresh:${n}`, 1);
  await pass(2);
  expect(await locks.lock('refresh:0', 1)).toBeDefined();
  expect(await locks.lock('refresh:4999', 1)).toBeDefined();
});
