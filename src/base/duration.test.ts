import { expect, it } from 'vitest';
import { parseDuration } from './duration.ts';

it.each([
  ['500ms', 500],
  ['30s', 30_000],
  ['2m30s', 150_000],
  ['1.5h', 5_400_000],
  ['168h', 604_800_000],
  ['0s', 0],
])('%s is %d ms', (text, milliseconds) => {
  expect(parseDuration(text)).toBe(milliseconds);
});

it.each(['', '30', 's', '-1s', '1 s', '1d', '1s ', '1e3s', 'PT30S'])('%j is not a duration', (text) => {
  expect(parseDuration(text)).toBeUndefined();
});
