const SHOWN = '[secret]';
/** A shorter secret is found in ordinary words, and blanking those helps nobody. */
const SHORTEST = 6;

/** Makes what a server says fit to be seen. */
export interface Mask {
  /** The longest text that is recognised as a secret. */
  readonly longest: number;
  /**
   * The text with `[secret]` in place of each secret. With a `length`, only as much as that many characters of the text
   * became: half a secret at the cut is hidden as well, which nobody can do who cuts first.
   */
  hide(text: string, length?: number): string;
}

export function createMask(secrets: readonly string[]): Mask {
  // A key of several lines is recognised line by line. Blanks around a value are often lost before it is printed.
  const lines = secrets.flatMap((secret) => secret.split(/\r?\n/)).map((line) => line.trim());
  const hidden = [...new Set(lines.filter((line) => line.length >= SHORTEST).flatMap(spellings))];
  // Where several match, the longest one counts.
  hidden.sort((a, b) => b.length - a.length);
  const longest = hidden[0]?.length ?? 0;
  // A look ahead finds secrets that overlap, too.
  const pattern = new RegExp(`(?=(${hidden.map(literally).join('|')}))`, 'g');

  function hide(text: string, length = text.length): string {
    if (longest === 0) return text.slice(0, length);
    let shown = '';
    let done = 0;
    for (const { index, 1: secret = '' } of text.slice(0, length + longest).matchAll(pattern)) {
      if (index >= length) break;
      if (index >= done) shown += text.slice(done, index) + SHOWN;
      done = Math.max(done, index + secret.length);
    }
    return shown + text.slice(done, length);
  }

  return { longest, hide };
}

/** As it is, inside JSON, and inside a URL. */
function spellings(secret: string): readonly string[] {
  return [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret.toWellFormed())];
}

function literally(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
