import { inspect } from 'node:util';

export type LogLevel = 'error' | 'warn' | 'info' | 'debug';
export type LogFields = Readonly<Record<string, unknown>>;

/** A fixed sentence, then fields. error: someone must act; warn: we carried on, degraded; info: state changed. */
export interface Log {
  error(sentence: string, fields?: LogFields): void;
  warn(sentence: string, fields?: LogFields): void;
  info(sentence: string, fields?: LogFields): void;
  debug(sentence: string, fields?: LogFields): void;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
  readonly write: (line: string) => void;
  readonly now: () => Date;
}

const LEVELS: readonly LogLevel[] = ['error', 'warn', 'info', 'debug'];

export function createLog(options: LogOptions): Log {
  const shown = LEVELS.indexOf(options.level);
  const render = options.format === 'json' ? asJson : asText;
  const at =
    (level: LogLevel) =>
    (sentence: string, fields: LogFields = {}): void => {
      if (LEVELS.indexOf(level) > shown) return;
      options.write(`${render(options.now(), level, sentence, fields)}\n`);
    };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}

/** A log that drops everything, for tests and for parts that nobody listens to. */
export const silentLog: Log = createLog({ level: 'error', format: 'text', write: () => {}, now: () => new Date(0) });

function asJson(now: Date, level: LogLevel, sentence: string, fields: LogFields): string {
  const shown = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, plain(value)]));
  return JSON.stringify({ time: now.toISOString(), level, message: sentence, ...shown });
}

function asText(now: Date, level: LogLevel, sentence: string, fields: LogFields): string {
  const shown = Object.entries(fields)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => ` ${name}=${quoted(plain(value))}`);
  return `${now.toISOString().slice(11, 19)} ${level.padEnd(5)} ${sentence}${shown.join('')}`;
}

/** Errors become one line with their causes; a stack is for people who asked for it with --debug. */
function plain(value: unknown): unknown {
  if (!(value instanceof Error)) return value;
  const texts: string[] = [];
  for (let error: unknown = value; error instanceof Error && texts.length < 5; error = error.cause) {
    texts.push('code' in error && typeof error.code === 'string' ? `${error.code}: ${error.message}` : error.message);
  }
  return texts.join(': ');
}

/** Control characters are escaped: a server's words must not move the cursor or forge a log line. */
function quoted(value: unknown): string {
  const text = typeof value === 'string' ? value : inspect(value, { breakLength: Number.POSITIVE_INFINITY, depth: 4 });
  return /^[\x21-\x7e]+$/.test(text) && !text.includes('"') ? text : JSON.stringify(text);
}
