import { stripVTControlCharacters } from 'node:util';
import type { Log } from '../../../base/index.ts';
import { createLineReader } from './lines.ts';

const KEPT = 20;
const LONGEST = 2_000;
/** A shorter secret is found in ordinary words, and blanking those helps nobody. */
const SHORTEST_SECRET = 6;

export interface LastWordsOptions {
  readonly server: string;
  readonly log: Log;
  /** Values that the server knows and that must not turn up in our log or in an error. */
  readonly secrets: readonly string[];
}

export interface LastWords {
  hear(chunk: Buffer): void;
  /** stderr ended: words without a newline count as well. */
  finish(): void;
  lines(): readonly string[];
}

/** stderr is free text for people: it goes to our log, and the last lines stay at hand to explain why a server ended. */
export function createLastWords({ server, log, secrets }: LastWordsOptions): LastWords {
  // A key of several lines is recognised line by line. Long ones go first: a short one may be part of them.
  const hidden = secrets
    .flatMap((secret) => secret.split(/\r?\n/))
    .filter((secret) => secret.length >= SHORTEST_SECRET)
    .sort((a, b) => b.length - a.length);
  const kept: string[] = [];

  function note(text: string): void {
    const line = hidden.reduce((shown, secret) => shown.replaceAll(secret, '[secret]'), printable(text));
    if (line === '') return;
    kept.push(line);
    if (kept.length > KEPT) kept.shift();
    log.debug('server says', { server, line });
  }

  const reader = createLineReader({
    limit: LONGEST,
    onLine: note,
    onOverflow: (head) => note(`${head.toString()}…`),
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
