import { describe, expect, it } from 'vitest';
import { isBlank, stranger, strangerInTitle } from './stranger.ts';

const odd = (code: string) => `<span class="odd">${code}</span>`;

describe('a stranger’s text', () => {
  it('stays as it is where a reader can see all of it', () => {
    expect(stranger('Zoë’s 编辑器 ❤\uFE0F v1.2').text).toBe('<bdi>Zoë’s 编辑器 ❤\uFE0F v1.2</bdi>');
  });

  it.each([
    ['a right-to-left override', '\u202E', 'U+202E'],
    ['an isolate that would end ours', '\u2069', 'U+2069'],
    ['a zero width space', '\u200B', 'U+200B'],
    ['a soft hyphen', '\u00AD', 'U+00AD'],
    ['a control character', '\u0007', 'U+0007'],
    ['a line break', '\n', 'U+000A'],
    ['a paragraph separator', '\u2029', 'U+2029'],
    ['a filler that looks like nothing', '\u3164', 'U+3164'],
    ['a blank of braille', '\u2800', 'U+2800'],
    ['a tag character', '\u{E0041}', 'U+E0041'],
    ['a private use character', '\uE000', 'U+E000'],
    ['half a surrogate pair', '\uD800', 'U+D800'],
    ['a variation selector behind a letter', '\uFE0F', 'U+FE0F'],
  ])('shows %s by its number', (_, character, code) => {
    expect(stranger(`a${character}b`).text).toBe(`<bdi>a${odd(code)}b</bdi>`);
    expect(strangerInTitle(`a${character}b`)).toBe(`\u2068a[${code}]b\u2069`);
  });

  it('lets marks pile up three high and no higher', () => {
    const shown = stranger(`Z${'\u0301'.repeat(5)}`).text;
    expect(shown).toBe(`<bdi>Z\u0301\u0301\u0301${odd('U+0301')}${odd('U+0301')}</bdi>`);
  });

  it('is escaped', () => {
    expect(stranger('<img src=x onerror=alert(1)>').text).toBe('<bdi>&lt;img src=x onerror=alert(1)&gt;</bdi>');
  });

  it('is cut, between characters', () => {
    expect(stranger('😀'.repeat(300), 3).text).toBe('<bdi>😀😀😀…</bdi>');
  });

  it('is nothing when there is nothing to see', () => {
    expect(isBlank(undefined)).toBe(true);
    expect(isBlank(' \u00A0\u200B\u3164\u202E')).toBe(true);
    expect(isBlank(' x ')).toBe(false);
  });
});
