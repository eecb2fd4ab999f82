/** Colours by what they are for. The test beside this file holds every text to a contrast of 4.5 and more. */
export interface Palette {
  /** Behind everything, and behind the card. */
  readonly ground: string;
  readonly card: string;
  readonly text: string;
  /** Explanations. */
  readonly quiet: string;
  readonly line: string;
  /** The one colour that asks for something: the first button, links, focus. */
  readonly accent: string;
  readonly onAccent: string;
  readonly accentHover: string;
  /** What needs a second look. */
  readonly caution: string;
  readonly cautionGround: string;
  readonly cautionLine: string;
}

/** Limestone and gate green. */
export const LIGHT: Palette = {
  ground: '#f3f1eb',
  card: '#ffffff',
  text: '#1b2622',
  quiet: '#55605b',
  line: '#d9d6cc',
  accent: '#0b5d4e',
  onAccent: '#ffffff',
  accentHover: '#08483c',
  caution: '#6f4300',
  cautionGround: '#fdf3dd',
  cautionLine: '#e3bf73',
};

/** The same gate at night. */
export const DARK: Palette = {
  ground: '#0f1513',
  card: '#18201d',
  text: '#e9efec',
  quiet: '#a3b0aa',
  line: '#323d38',
  accent: '#6fd3b8',
  onAccent: '#08201a',
  accentHover: '#95e2cc',
  caution: '#f3cf8e',
  cautionGround: '#2c2413',
  cautionLine: '#6b5526',
};
