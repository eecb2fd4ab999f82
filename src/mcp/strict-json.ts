import { SallyError } from '../base/index.ts';

/** Deeper nesting is an attack on whoever reads it next, not data. */
const MAX_DEPTH = 128;

/** The members of `params` as they were written: forwarded so, numbers keep digits that JavaScript cannot hold. */
export type RawParams = ReadonlyMap<string, string>;

export interface StrictJson {
  readonly value: unknown;
  readonly raw: RawParams | undefined;
}

/**
 * JSON that everybody reads the same way. `JSON.parse` takes the last of two equal keys where others take the first, and a
 * gateway that checked one while the server obeys the other can be walked around. Such texts are refused.
 */
export function parseStrict(text: string): StrictJson {
  // A short text cannot be deep enough to hurt before the scanner below finds out.
  if (text.length > 64 * 1024 && isDeeperThan(MAX_DEPTH, text)) throw tooDeep();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new SallyError('call.parse_error', 'the message is not JSON', { cause });
  }
  const scanner = new Scanner(text);
  scanner.scan();
  if (scanner.members !== membersOf(value)) throw twice();
  refuseMisread(value, scanner.params);
  return { value, raw: scanner.params };
}

/**
 * V8 reads a key with escapes wrongly when an earlier text had a key that looks like the escape (seen in Node 24.21: `"\""` after
 * `"\\"`). What we would decide by is then not what was written.
 */
function refuseMisread(value: unknown, raw: RawParams | undefined): void {
  const { params } = (value ?? {}) as { readonly params?: unknown };
  if (!raw || typeof params !== 'object' || params === null) return;
  for (const key of Object.keys(params)) {
    if (!raw.has(key))
      throw new SallyError('call.invalid_request', 'a key is written in a way that readers of JSON disagree about');
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;

/** Walks a text that is known to be JSON. That makes it short: it only has to find where things begin and end. */
class Scanner {
  params: Map<string, string> | undefined;
  /** How many members all objects of the text have together: before each value of one stands a colon. */
  members = 0;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): void {
    this.#space();
    if (this.#code() !== OPEN_BRACE) {
      this.#value(0);
      return;
    }
    while (this.#hasNext()) {
      if (this.#key() === 'params' && this.#code() === OPEN_BRACE) this.#params();
      else this.#value(1);
    }
  }

  #params(): void {
    this.params = new Map();
    while (this.#hasNext()) {
      const key = this.#key();
      const from = this.#at;
      this.#value(2);
      this.params.set(key, this.#text.slice(from, this.#at));
    }
  }

  /** Goes on to the next key of the object, or over its end. */
  #hasNext(): boolean {
    this.#space();
    if (this.#code() !== CLOSE_BRACE) {
      this.#at += 1; // the brace before the first, the comma before the others
      this.#space();
    }
    if (this.#code() !== CLOSE_BRACE) return true;
    this.#at += 1;
    return false;
  }

  /** Reads the key here and goes on to its value. */
  #key(): string {
    const from = this.#at;
    this.#at = endOfString(this.#text, from);
    const key = this.#text.slice(from + 1, this.#at - 1);
    this.#space();
    this.#at += 1; // the colon
    this.members += 1;
    this.#space();
    return key.includes('\\') ? (JSON.parse(`"${key}"`) as string) : key;
  }

  /** Goes over the value here, which lies in so many others. */
  #value(outside: number): void {
    const text = this.#text;
    let depth = outside;
    let at = this.#at;
    do {
      switch (text.charCodeAt(at)) {
        case QUOTE:
          at = endOfString(text, at);
          break;
        case OPEN_BRACE:
        case OPEN_BRACKET:
          depth += 1;
          if (depth > MAX_DEPTH) throw tooDeep();
          at += 1;
          break;
        case CLOSE_BRACE:
        case CLOSE_BRACKET:
          depth -= 1;
          at += 1;
          break;
        case COLON:
          this.members += 1;
          at += 1;
          break;
        default:
          at = depth > outside ? at + 1 : endOfWord(text, at);
      }
    } while (depth > outside);
    this.#at = at;
  }

  #code(): number {
    return this.#text.charCodeAt(this.#at);
  }

  #space(): void {
    while (this.#code() <= 0x20) this.#at += 1;
  }
}

/** The place behind a number, true, false or null. */
function endOfWord(text: string, from: number): number {
  let at = from;
  for (;;) {
    const code = text.charCodeAt(at);
    if (Number.isNaN(code) || code <= 0x20 || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET)
      return at;
    at += 1;
  }
}

/** The place behind a string: behind the first quote with an even number of backslashes before it. 0 when it never ends. */
export function endOfString(text: string, from: number): number {
  let end = text.indexOf('"', from + 1);
  while (end !== -1 && text.charCodeAt(end - 1) === BACKSLASH) {
    let backslashes = 1;
    while (text.charCodeAt(end - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) break;
    end = text.indexOf('"', end + 1);
  }
  return end + 1;
}

/** Is this text nested deeper than the limit? It need not be JSON: reading something deep costs a hundred times its length in memory. */
export function isDeeperThan(limit: number, text: string): boolean {
  if (text.length <= 2 * limit) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (end === 0) return false;
      at = end - 1;
    } else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth += 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    if (depth > limit) return true;
  }
  return false;
}

/** The members that are left in a value. It has fewer than its text when two of one object had the same key. */
function membersOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 0;
  let members = 0;
  if (Array.isArray(value)) for (const item of value) members += membersOf(item);
  else for (const key in value) members += 1 + membersOf((value as Readonly<Record<string, unknown>>)[key]);
  return members;
}

function twice(): SallyError {
  return new SallyError('call.invalid_request', 'a key occurs twice in one object');
}

function tooDeep(): SallyError {
  return new SallyError('call.invalid_request', `the message is nested deeper than ${MAX_DEPTH} levels`);
}
