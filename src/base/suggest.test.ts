import { expect, it } from 'vitest';
import { suggest } from './suggest.ts';

const FIELDS = ['image', 'transport', 'proxyPort', 'env'];

it.each([
  ['imgae', 'image'],
  ['Transport', 'transport'],
  ['proxy_port', 'proxyPort'],
  ['evn', 'env'],
  ['completelyElse', undefined],
  ['x'.repeat(10_000), undefined],
])('%s -> %s', (word, meant) => {
  expect(suggest(word, FIELDS)).toBe(meant);
});
