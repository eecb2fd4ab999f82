import { expect, it } from 'vitest';
import { Secret } from '../base/index.ts';
import { keyOf } from './key.ts';

it('equal values have equal keys, whatever the order of their fields', () => {
  expect(keyOf({ a: 1, b: [2, { c: 3, d: undefined }] })).toBe(keyOf({ b: [2, { c: 3 }], a: 1 }));
});

it('a changed secret changes the key', () => {
  expect(keyOf({ token: new Secret('one') })).not.toBe(keyOf({ token: new Secret('two') }));
});

it('a secret and a text that looks like it are not the same', () => {
  expect(keyOf(new Secret('x'))).not.toBe(keyOf('[secret]'));
  expect(keyOf(new Secret('x'))).not.toBe(keyOf('x'));
});

it('the key does not show the secret', () => {
  expect(keyOf(new Secret('hunter2'))).not.toContain('hunter2');
});

it('sees what is inside maps and sets', () => {
  expect(keyOf(new Map([['a', 1]]))).not.toBe(keyOf(new Map([['a', 2]])));
  expect(keyOf(new Set(['a']))).not.toBe(keyOf(new Set(['b'])));
});
