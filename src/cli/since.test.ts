import { expect, it } from 'vitest';
import { since } from './since.ts';

it.each([
  [0, '0s'],
  [59, '59s'],
  [60, '1m'],
  [3_725, '1h 2m'],
  [86_400 * 3 + 3_600 * 4 + 59, '3d 4h'],
  [-5, '0s'],
])('%d seconds ago is %s', (seconds, text) => {
  const now = Date.parse('2026-01-05T09:00:00Z');
  expect(since(new Date(now - seconds * 1_000).toISOString(), now)).toBe(text);
});
