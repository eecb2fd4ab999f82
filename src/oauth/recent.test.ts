import { expect, it } from 'vitest';
import { createRecent } from './recent.ts';

it('keeps what is used, and forgets what is not once there is no room', () => {
  const recent = createRecent<number>(10);
  recent.set('used', 1);
  recent.set('unused', 2);
  for (let index = 0; index < 50; index += 1) {
    recent.set(`other ${index}`, index);
    expect(recent.get('used')).toBe(1);
  }
  expect(recent.get('unused')).toBeUndefined();
});

it('holds no more than its limit', () => {
  const recent = createRecent<number>(10);
  for (let index = 0; index < 1_000; index += 1) recent.set(String(index), index);
  const held = Array.from({ length: 1_000 }, (_, index) => recent.get(String(index))).filter(
    (one) => one !== undefined,
  );
  expect(held.length).toBeLessThanOrEqual(10);
  expect(held.length).toBeGreaterThan(0);
});
