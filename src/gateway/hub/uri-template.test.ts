import { expect, it } from 'vitest';
import { createUriMatcher } from './uri-template.ts';

it.each([
  ['test://template/{id}/data', 'test://template/123/data', true],
  ['test://template/{id}/data', 'test://template/1/2/data', false],
  ['test://template/{id}/data', 'test://template//data', false],
  ['test://template/{id}/data', 'test://template/123/data/more', false],
  ['file:///{+path}', 'file:///a/b/c.txt', true],
  ['file:///{path}', 'file:///a/b/c.txt', false],
  ['{scheme}://x', 'abc://x', true],
  ['a{b}c{d}e', 'aXcYe', true],
  ['a{b}c{d}e', 'aXcYf', false],
  ['http://h/s{?q,lang}', 'http://h/s?q=1', true],
  ['http://h/s{?q,lang}', 'http://h/s', true],
  ['http://h/s{?q,lang}', 'http://h/sx', false],
  ['plain://x', 'plain://x', true],
  ['plain://x', 'plain://xy', false],
])('%s and %s: %s', (template, uri, expected) => {
  expect(createUriMatcher(template)(uri)).toBe(expected);
});

it('takes no longer for a hostile template than for a kind one', () => {
  const matcher = createUriMatcher('{a}'.repeat(30));
  const began = performance.now();
  for (let round = 0; round < 100; round++) matcher('a'.repeat(50_000));
  expect(performance.now() - began).toBeLessThan(2_000);
  expect(createUriMatcher('{a}'.repeat(1_000))('aaa')).toBe(false);
});
