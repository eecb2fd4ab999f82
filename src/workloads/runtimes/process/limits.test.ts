import { describe, expect, it } from 'vitest';
import { DEFAULT_LIMITS, pauseAfter } from './limits.ts';

describe('the pause before a restart', () => {
  it('doubles with each failure and stays below the longest one', () => {
    const pauses = [1, 2, 3, 8, 9, 500].map((failures) => pauseAfter(failures, DEFAULT_LIMITS, () => 1));
    expect(pauses).toEqual([250, 500, 1_000, 30_000, 30_000, 30_000]);
  });

  it('is shortened by up to a half at random', () => {
    expect(pauseAfter(1, DEFAULT_LIMITS, () => 0)).toBe(125);
  });
});
