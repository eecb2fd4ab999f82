import { type Html, html } from './html.ts';

/** Longer texts are cut: a page must stay readable whatever strangers write. */
const LONGEST = 200;
/** In headings, where a name stands. */
export const LONGEST_NAME = 80;

/**
 * What a reader cannot see or what moves other text around: control and format characters (bidirectional overrides among them),
 * fillers, blanks that are no space, variation selectors (except behind an emoji), private and unassigned code points, lone
 * surrogates, and piles of combining marks.
 */
const ODD =
  /(?!(?<=\p{Extended_Pictographic})\uFE0F)[\p{C}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?<=\p{M}{3})\p{M}/gu;

/** A stranger's text as he wrote it, with what cannot be seen made visible, and isolated from the text around it. */
export function stranger(text: string, longest = LONGEST): Html {
  const shown = cut(text, longest);
  const pieces: (Html | string)[] = [];
  let from = 0;
  for (const match of shown.matchAll(ODD)) {
    const [character] = match;
    pieces.push(shown.slice(from, match.index));
    pieces.push(html`<span class="odd">${codePoint(character)}</span>`);
    from = match.index + character.length;
  }
  return html`<bdi>${pieces}${shown.slice(from)}</bdi>`;
}

/** The same for a title, which has no elements: the isolation is done by characters. */
export function strangerInTitle(text: string): string {
  const shown = cut(text, LONGEST_NAME).replace(ODD, (character) => `[${codePoint(character)}]`);
  return `\u2068${shown}\u2069`;
}

/** Whether there is anything to see in it. */
export function isBlank(text: string | undefined): boolean {
  return text === undefined || text.replace(ODD, '').trim() === '';
}

function cut(text: string, longest: number): string {
  const characters = [...text.replace(/\p{Zs}/gu, ' ')];
  return characters.length > longest ? `${characters.slice(0, longest).join('')}…` : characters.join('');
}

function codePoint(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
