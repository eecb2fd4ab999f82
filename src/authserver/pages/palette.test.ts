import { describe, expect, it } from 'vitest';
import { DARK, LIGHT, type Palette } from './palette.ts';

/** Texts and what they stand on, in style.ts. WCAG 2.2 asks for 4.5 for text and for 3 for what marks a control. */
const TEXTS: readonly (readonly [keyof Palette, keyof Palette])[] = [
  ['text', 'card'],
  ['text', 'ground'],
  ['quiet', 'card'],
  ['quiet', 'ground'],
  ['accent', 'card'],
  ['onAccent', 'accent'],
  ['onAccent', 'accentHover'],
  ['caution', 'cautionGround'],
];
const MARKS: readonly (readonly [keyof Palette, keyof Palette])[] = [
  ['accent', 'card'],
  ['accent', 'ground'],
];

describe.each([
  ['light', LIGHT],
  ['dark', DARK],
])('the %s colours', (_, palette) => {
  it.each(TEXTS)('let %s be read on %s', (text, ground) => {
    expect(contrast(palette[text], palette[ground])).toBeGreaterThanOrEqual(4.5);
  });

  it.each(MARKS)('let %s be seen on %s', (mark, ground) => {
    expect(contrast(palette[mark], palette[ground])).toBeGreaterThanOrEqual(3);
  });
});

describe('contrast', () => {
  it('is what WCAG says it is', () => {
    expect(contrast('#000000', '#ffffff')).toBe(21);
    expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
  });
});

function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
