import { expect, it } from 'vitest';
import { createSeldom } from './seldom.ts';

it('tells a thing once a minute, and how often it happened meanwhile', () => {
  let clock = 0;
  const seldom = createSeldom(() => clock);
  expect(seldom('a')).toBe(0);
  expect(seldom('a')).toBeUndefined();
  expect(seldom('b')).toBe(0);
  clock = 30_000;
  expect(seldom('a')).toBeUndefined();
  clock = 60_000;
  expect(seldom('a')).toBe(2);
});
