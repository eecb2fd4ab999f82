import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { createSealer } from './seal.ts';

const key = randomBytes(32);
const sealer = createSealer(key, 'test');

it('opens what it sealed', () => {
  const value = { a: [1, 'zwei', null] };
  expect(sealer.open(sealer.seal(value))).toEqual(value);
});

it('never gives the same text twice, and shows nothing of what is inside', () => {
  const [one, two] = [sealer.seal('hunter2'), sealer.seal('hunter2')];
  expect(one).not.toBe(two);
  expect(Buffer.from(one, 'base64url').toString('latin1')).not.toContain('hunter2');
});

it('refuses a text with any byte changed', () => {
  const bytes = Buffer.from(sealer.seal({ a: 1 }), 'base64url');
  for (let index = 0; index < bytes.length; index++) {
    const altered = Buffer.from(bytes);
    altered[index] = (altered[index] ?? 0) ^ 1;
    expect(sealer.open(altered.toString('base64url'))).toBeUndefined();
  }
});

it.each(['', 'x', 'A'.repeat(38), 'not base64 at all!', '\0'])('refuses %j', (text) => {
  expect(sealer.open(text)).toBeUndefined();
});

it('refuses a text of another key or another purpose', () => {
  expect(createSealer(randomBytes(32), 'test').open(sealer.seal(1))).toBeUndefined();
  expect(createSealer(key, 'other').open(sealer.seal(1))).toBeUndefined();
});
