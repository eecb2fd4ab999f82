import { z } from 'zod';
import { suggest } from '../../base/index.ts';
import { schemaAt, unwrap } from '../walk.ts';
import type { Finding } from './problem.ts';

const ARTICLES: Readonly<Record<string, string>> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  null: 'null',
};

/** The text of a schema issue for which the field has no words of its own. Values are not repeated: they may be secrets. */
export function explain(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required';
      return `must be ${ARTICLES[issue.expected] ?? issue.expected}, not ${typeName(issue.input)}`;
    case 'invalid_value':
      if (issue.input === undefined) return 'is required';
      return `must be ${alternatives(issue.values.map(String))}${quoted(issue.input)}`;
    case 'too_big':
      return issue.origin === 'string'
        ? `must have at most ${issue.maximum} characters`
        : issue.origin === 'array'
          ? `must have at most ${issue.maximum} entries`
          : `must be at most ${issue.maximum}`;
    case 'too_small':
      return `must be at least ${issue.minimum}`;
    default:
      return 'is not valid';
  }
}

/** What a schema issue means to the person who wrote the manifest; several when several fields are unknown. */
export function findingsOf(issue: z.core.$ZodIssue, schema: z.ZodType, value: unknown): Finding[] {
  const path = issue.path.map((key) => (typeof key === 'symbol' ? String(key) : key));
  switch (issue.code) {
    case 'unrecognized_keys':
      return issue.keys.map((key) => unknownField(schema, path, key));
    case 'invalid_key':
      return [{ path, message: `has a name that ${issue.issues[0]?.message ?? 'is not valid'}` }];
    case 'invalid_value':
      return [{ path, message: issue.message, ...didYouMean(at(value, path), issue.values.map(String)) }];
    case 'invalid_type': {
      const found = typeof at(value, path);
      const unquoted = issue.expected === 'string' && (found === 'number' || found === 'boolean');
      return [{ path, message: issue.message, ...(unquoted ? { hint: 'put the value in quotes' } : {}) }];
    }
    default:
      return [{ path, message: issue.message }];
  }
}

/** `did you mean` for a word among candidates, to be spread into a finding. */
export function didYouMean(word: unknown, candidates: Iterable<string>): { hint?: string } {
  const close = typeof word === 'string' ? suggest(word, candidates) : undefined;
  return close === undefined ? {} : { hint: `did you mean \`${close}\`?` };
}

function unknownField(schema: z.ZodType, parent: readonly (string | number)[], key: string): Finding {
  const object = schemaAt(schema, parent);
  const fields = object instanceof z.ZodObject ? Object.entries(object.shape) : [];
  // What the API server writes is accepted, but nobody is told to write it.
  const allowed = fields
    .filter(([, field]) => !(unwrap(field as z.ZodType) instanceof z.ZodUnknown))
    .map(([name]) => name);
  const hint = didYouMean(key, allowed).hint ?? `allowed here: ${allowed.join(', ')}`;
  return { path: [...parent, key], message: 'is not a known field', hint };
}

function alternatives(values: readonly string[]): string {
  const words = values.map((value) => `\`${value}\``);
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`;
}

/** Only for fields with a fixed list of values, where the wrong word helps and cannot be a secret of any length. */
function quoted(input: unknown): string {
  return typeof input === 'string' && /^[\w./:-]{1,64}$/.test(input) ? `, not \`${input}\`` : '';
}

function typeName(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'a list';
  return ARTICLES[typeof input] ?? typeof input;
}

function at(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const key of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, key)) return undefined;
    found = (found as Record<string | number, unknown>)[key];
  }
  return found;
}
