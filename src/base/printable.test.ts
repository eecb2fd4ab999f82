import { expect, it } from 'vitest';
import { printable } from './printable.ts';

it('leaves ordinary words alone', () => {
  expect(printable('grüße, 世界 – "ok"')).toBe('grüße, 世界 – "ok"');
});

it.each(['\u001b[31m', '\u0007', '\r\n', '\u009b2J', '\u202e', '\u2028', '\0'])(
  'shows %j instead of obeying it',
  (text) => {
    expect(printable(`a${text}b`)).toMatch(/^a(\\u[0-9a-f]{4}.*)+b$/);
    expect(printable(text)).not.toContain(text[0]);
  },
);

it('cuts what does not end', () => {
  expect(printable('x'.repeat(10_000), 10)).toBe('xxxxxxxxxx…');
});
