import { createHash } from 'node:crypto';
import { Secret } from '../base/index.ts';

/** A short name for a value: equal values have equal keys, whatever the order of their fields. Secrets count, but cannot be read back. */
export function keyOf(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('base64url').slice(0, 22);
}

function canonical(value: unknown): string {
  if (value instanceof Secret) return `secret:${JSON.stringify(value.reveal())}`;
  if (value instanceof Map) return `map:${canonical([...value])}`;
  if (value instanceof Set) return `set:${canonical([...value])}`;
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    fields.sort(([a], [b]) => (a < b ? -1 : 1));
    return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`;
  }
  return JSON.stringify(value) ?? 'undefined';
}
