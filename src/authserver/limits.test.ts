import { describe, expect, it } from 'vitest';
import { createLimiter } from './limits.ts';

describe('how often somebody may', () => {
  it('so many at once, then as time allows', () => {
    let time = 0;
    const limiter = createLimiter({ burst: 3, perSecond: 0.5 }, () => time);
    expect([1, 2, 3, 4].map(() => limiter.wait('a'))).toEqual([0, 0, 0, 2]);
    time += 1_000;
    expect(limiter.wait('a')).toBe(1);
    time += 1_000;
    expect([limiter.wait('a'), limiter.wait('a')]).toEqual([0, 2]);
  });

  it('one does not pay for another', () => {
    const limiter = createLimiter({ burst: 1, perSecond: 1 }, () => 0);
    expect([limiter.wait('a'), limiter.wait('a'), limiter.wait('b')]).toEqual([0, 1, 0]);
  });

  it('who is refused does not wait longer for asking again', () => {
    let time = 0;
    const limiter = createLimiter({ burst: 1, perSecond: 0.1 }, () => time);
    limiter.wait('a');
    for (let n = 0; n < 100; n++) limiter.wait('a');
    time += 10_000;
    expect(limiter.wait('a')).toBe(0);
  });

  it('remembers only so many, and forgets the quietest first', () => {
    const limiter = createLimiter({ burst: 1, perSecond: 0.001 }, () => 0, 2);
    limiter.wait('a');
    limiter.wait('b');
    limiter.wait('a');
    limiter.wait('c');
    expect(limiter.wait('a')).toBeGreaterThan(0);
    expect(limiter.wait('b')).toBe(0);
  });
});
