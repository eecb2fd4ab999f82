import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createMask } from './mask.ts';

describe('the mask', () => {
  it('hides every secret, the longest where several fit, and both where they overlap', () => {
    const { hide } = createMask(['hunter2', 'hunter2-hunter2', 'abcdef', 'defghi']);
    expect(hide('hunter2-hunter2, hunter2, abcdefghi!')).toBe('[secret], [secret], [secret]!');
  });

  it('takes nothing in a secret for a pattern', () => {
    expect(createMask(['.*+?{1}^$()|[]\\']).hide('harmless .*+?{1}^$()|[]\\')).toBe('harmless [secret]');
  });

  it('knows a secret inside JSON, inside a URL, and without the blanks around it', () => {
    const { hide } = createMask(['a "quoted"\tsecret \n']);
    const printed = JSON.stringify({ token: 'a "quoted"\tsecret' });
    expect(hide(printed)).toBe('{"token":"[secret]"}');
    expect(hide(`?t=${encodeURIComponent('a "quoted"\tsecret')}&x`)).toBe('?t=[secret]&x');
  });

  it('leaves short values and everything else alone', () => {
    const text = 'a tiny value\u0007\t\u2028';
    expect(createMask(['tiny', '']).hide(text)).toBe(text);
    expect(createMask([]).hide(text, 6)).toBe('a tiny');
    expect(createMask(['\ud800 is half a character']).hide(text)).toBe(text);
  });

  it('never shows a part of a secret, wherever the text is cut', () => {
    const secret = 'SECRETS';
    const texts = fc.array(fc.oneof(fc.constant(secret), fc.string({ unit: fc.constantFrom('a', ' ', '\t') })));
    fc.assert(
      fc.property(texts, fc.nat(60), (parts, length) => {
        expect(createMask([secret]).hide(parts.join(''), length)).not.toMatch(/[SECRT]/);
      }),
    );
  });
});
