import { expect, it } from 'vitest';
import { timeElement } from './times.ts';

const NOW = 1_800_000_000;

it.each([
  [0, 'a moment ago'],
  [-59, 'a moment ago'],
  [-60, '1 minute ago'],
  [-7_199, '1 hour ago'],
  [-7_200, '2 hours ago'],
  [-3 * 86_400, '3 days ago'],
  [-40 * 86_400, '1 month ago'],
  [-800 * 86_400, '2 years ago'],
  [30, 'in less than a minute'],
  [90, 'in 1 minute'],
  [28 * 86_400, 'in 28 days'],
])('%i seconds from now is %s, with the exact time beside it', (away, words) => {
  const { text } = timeElement(NOW + away, NOW);
  expect(text).toContain(`>${words}</time>`);
  expect(text).toMatch(/^<time datetime="20\d\d-\d\d-\d\dT\d\d:\d\dZ" title="20\d\d-\d\d-\d\d \d\d:\d\d UTC">/);
});
