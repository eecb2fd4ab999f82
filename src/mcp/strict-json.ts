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

/** Walks a text that is known to be JSON. That makes it short: it only has to find where things begin and end. */
class Scanner {
  params: Map<string, string> | undefined;
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  scan(): void {
    this.#space();
    this.#value(0, false);
  }

  #value(depth: number, isParams: boolean): void {
    switch (this.#text.charCodeAt(this.#at)) {
      case OPEN_BRACE:
        this.#object(depth + 1, isParams);
        return;
      case OPEN_BRACKET:
        this.#array(depth + 1);
        return;
      case QUOTE:
        this.#string();
        return;
      default:
        this.#word();
    }
  }

  #object(depth: number, isParams: boolean): void {
    if (depth > MAX_DEPTH) throw tooDeep();
    const text = this.#text;
    const few: string[] = [];
    let many: Set<string> | undefined;
    if (isParams) this.params = new Map();
    this.#at += 1;
    for (;;) {
      this.#space();
      if (text.charCodeAt(this.#at) === CLOSE_BRACE) break;
      const key = this.#key();
      if (many ? many.has(key) : few.includes(key)) throw twice(key);
      if (many) many.add(key);
      else if (few.push(key) === 16) many = new Set(few);
      this.#space();
      this.#at += 1; // the colon
      this.#space();
      const from = this.#at;
      this.#value(depth, depth === 1 && key === 'params');
      if (isParams) this.params?.set(key, text.slice(from, this.#at));
      this.#space();
      if (text.charCodeAt(this.#at) !== COMMA) break;
      this.#at += 1;
    }
    this.#at += 1;
  }

  #array(depth: number): void {
    if (depth > MAX_DEPTH) throw tooDeep();
    const text = this.#text;
    this.#at += 1;
    for (;;) {
      this.#space();
      if (text.charCodeAt(this.#at) === CLOSE_BRACKET) break;
      this.#value(depth, false);
      this.#space();
      if (text.charCodeAt(this.#at) !== COMMA) break;
      this.#at += 1;
    }
    this.#at += 1;
  }

  #key(): string {
    const from = this.#at;
    this.#string();
    const key = this.#text.slice(from + 1, this.#at - 1);
    return key.includes('\\') ? (JSON.parse(`"${key}"`) as string) : key;
  }

  #string(): void {
    this.#at = endOfString(this.#text, this.#at);
  }

  /** Numbers, true, false and null. */
  #word(): void {
    const text = this.#text;
    let at = this.#at;
    for (;;) {
      const code = text.charCodeAt(at);
      if (Number.isNaN(code) || code <= 0x20 || code === COMMA || code === CLOSE_BRACE || code === CLOSE_BRACKET) break;
      at += 1;
    }
    this.#at = at;
  }

  #space(): void {
    while (this.#text.charCodeAt(this.#at) <= 0x20) this.#at += 1;
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

function twice(key: string): SallyError {
  return new SallyError(
    'call.invalid_request',
    `the key ${JSON.stringify(key.slice(0, 64))} occurs twice in one object`,
  );
}

function tooDeep(): SallyError {
  return new SallyError('call.invalid_request', `the message is nested deeper than ${MAX_DEPTH} levels`);
}
