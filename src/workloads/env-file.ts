import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { readBounded } from '../base/files/index.ts';
import { SallyError } from '../base/index.ts';

type Variables = Readonly<Record<string, string>>;

const LARGEST = 1024 * 1024;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/** The variables of one file. */
export async function readEnvFile(path: string): Promise<Variables> {
  const bytes = await readBounded(path, LARGEST);
  if (bytes === undefined) throw missing(path, 'file');
  return parseEnvFile(bytes.toString('utf8'), path);
}

/** The variables of all files of a folder, in the order of their names; later ones win. Hidden files and folders are none of them. */
export async function readEnvFolder(path: string): Promise<Variables> {
  const entries = await readdir(path, { withFileTypes: true }).catch((cause: unknown) => {
    throw missing(path, 'folder', cause);
  });
  const files = entries.filter((entry) => !entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name);
  let variables: Variables = {};
  for (const file of files.sort()) variables = { ...variables, ...(await readEnvFile(join(path, file))) };
  return variables;
}

/**
 * The rules of dotenv: `KEY=value`, maybe with `export` in front; `#` starts a comment at the beginning of a line and after a
 * blank; single quotes keep everything as it is, double quotes know `\n`, `\t`, `\r`, `\"`, `\\`; both may span lines. Nothing
 * is put in for `$NAME`. A line that is none of this is an error: a setting that gets lost is worse than one that is refused.
 */
export function parseEnvFile(text: string, file: string): Variables {
  const variables = new Map<string, string>();
  const source = text.replace(/^\uFEFF/, '').replaceAll('\r\n', '\n');
  let at = 0;
  while (at < source.length) {
    const line = /[^\n]*/y;
    line.lastIndex = at;
    const [whole = ''] = line.exec(source) ?? [];
    const blank = /^\s*(#.*)?$/.test(whole);
    if (blank) {
      at += whole.length + 1;
      continue;
    }
    const head = /^[ \t]*(?:export[ \t]+)?([^\s=]+)[ \t]*=[ \t]*/.exec(whole);
    const number = (): number => source.slice(0, at).split('\n').length;
    if (!head) throw wrong(file, number(), 'is not KEY=VALUE');
    const [start, name = ''] = head;
    if (!/^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name))
      throw wrong(file, number(), 'does not start with the name of a variable');
    const value = valueAt(source, at + start.length, (says) => wrong(file, number(), says));
    variables.set(name, value.text);
    at = value.end;
  }
  return Object.fromEntries(variables);
}

/** The value that starts there, and where the next line starts. */
function valueAt(source: string, from: number, fail: (says: string) => SallyError): { text: string; end: number } {
  const quote = source[from];
  const endOfLine = (position: number): number => {
    const end = source.indexOf('\n', position);
    return end === -1 ? source.length : end;
  };
  if (quote !== '"' && quote !== "'") {
    const end = endOfLine(from);
    return {
      text: source
        .slice(from, end)
        .replace(/(^|\s)#.*$/, '')
        .trim(),
      end: end + 1,
    };
  }
  let text = '';
  let at = from + 1;
  for (; source[at] !== quote; at++) {
    if (at >= source.length) throw fail(`opens a ${quote} and never closes it`);
    const escaped = quote === '"' && source[at] === '\\' ? source[++at] : undefined;
    text += escaped === undefined ? source[at] : (ESCAPES[escaped] ?? unescaped(escaped));
  }
  const end = endOfLine(at);
  if (!/^\s*(#.*)?$/.test(source.slice(at + 1, end))) throw fail('goes on after the closing quote');
  return { text, end: end + 1 };
}

/** A backslash in front of anything else stays, as in `\d`; it only hides quotes, dollars and itself. */
function unescaped(character: string): string {
  return ['"', '\\', '$', '\n'].includes(character) ? character : `\\${character}`;
}

/** What a value is stays out of messages: such files are full of secrets. */
function wrong(file: string, line: number, says: string): SallyError {
  return new SallyError('config.invalid', `${file}:${line} ${says}`, {
    hint: 'write KEY=VALUE, with quotes around a value that has blanks at its ends, # or line breaks in it',
  });
}

function missing(path: string, kind: string, cause?: unknown): SallyError {
  return new SallyError('config.unreadable', `the ${kind} ${path} with variables cannot be read`, {
    cause,
    hint: 'correct the path, or give the variables with -e',
  });
}
