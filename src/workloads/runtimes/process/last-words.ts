import { stripVTControlCharacters } from 'node:util';
import type { Log } from '../../../base/index.ts';
import { createLineReader } from './lines.ts';
import type { Mask } from './mask.ts';

const KEPT = 20;
const LONGEST = 2_000;
/** In UTF-8 a character of a JavaScript string takes up to three bytes. */
const BYTES_PER_CHARACTER = 3;

export interface LastWordsOptions {
  readonly server: string;
  readonly log: Log;
  /** Hides what the server knows and what must not turn up in our log or in an error. */
  readonly mask: Mask;
  /** Hears every line in the form that people may see. */
  readonly hear?: ((line: string) => void) | undefined;
}

export interface LastWords {
  hear(chunk: Buffer): void;
  /** stderr ended: words without a newline count as well. */
  finish(): void;
  lines(): readonly string[];
}

/** stderr is free text for people: it goes to our log, and the last lines stay at hand to explain why a server ended. */
export function createLastWords({ server, log, mask, hear }: LastWordsOptions): LastWords {
  const kept: string[] = [];

  function note(text: string): void {
    // Masked first, since a secret may have a tab inside; and again, since a colour may have hidden one.
    const shown = mask.hide(printable(mask.hide(text, LONGEST)));
    if (shown === '') return;
    const line = text.length > LONGEST ? `${shown}…` : shown;
    kept.push(line);
    if (kept.length > KEPT) kept.shift();
    log.debug('server says', { server, line });
    hear?.(line);
  }

  const reader = createLineReader({
    // Enough to see the whole of a secret that starts before the cut.
    limit: BYTES_PER_CHARACTER * (LONGEST + mask.longest + 1),
    onLine: note,
    onOverflow: (head) => note(head.toString()),
  });
  return { hear: reader.push, finish: reader.end, lines: () => [...kept] };
}

/**
 * Colours go, and so does what could move a cursor or turn the reading direction on the terminal of whoever reads the log.
 */
function printable(text: string): string {
  return stripVTControlCharacters(text)
    .replaceAll('\t', '  ')
    .replace(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, '')
    .trimEnd();
}
