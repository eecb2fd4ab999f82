import { expect, it } from 'vitest';
import { json, table } from './output.ts';

it('writes JSON that moves no cursor and turns no direction, and means the same', () => {
  const value = { a: 'x\u009b2J\u202e\u2066\u2028\u001b', b: '\u00e9\u{1f511}' };
  const text = json(value);
  expect(text).toContain(String.raw`x\u009b2J\u202e\u2066\u2028\u001b`);
  expect(text).toContain('\u00e9\u{1f511}');
  expect(JSON.parse(text)).toEqual(value);
});

it('sets columns two spaces apart, numbers to the right', () => {
  expect(
    table(
      ['NAME', 'COUNT'],
      [
        ['a', 1],
        ['long', 20],
      ],
    ),
  ).toBe('NAME  COUNT\na         1\nlong     20\n');
});
