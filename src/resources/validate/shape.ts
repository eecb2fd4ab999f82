import { z } from 'zod';
import type { Kind } from '../kinds/kind.ts';
import { rulesOf } from '../traits.ts';
import { isMapping, walk, withoutNulls } from '../walk.ts';
import { explain, findingsOf } from './explain.ts';
import type { Finding } from './problem.ts';

export interface Shape {
  /** The manifest with its defaults; absent when a field is wrong. */
  readonly manifest?: Readonly<Record<string, unknown>>;
  readonly findings: readonly Finding[];
}

/** Holds one document against its kind: fields first, then the rules of every object whose own fields are right. */
export function checkShape(kind: Kind, value: unknown): Shape {
  const written = withoutNulls(kind.schema, value);
  const parsed = kind.schema.safeParse(written, { error: explain });
  const findings = parsed.success
    ? []
    : parsed.error.issues.flatMap((issue) => findingsOf(issue, kind.schema, written));
  findings.push(...lostKeys(kind, written), ...brokenRules(kind, written));
  return parsed.success && findings.length === 0 ? { manifest: parsed.data, findings } : { findings };
}

/** The schema library drops this one key from maps without a word; what is written must not get lost. */
function lostKeys(kind: Kind, written: unknown): Finding[] {
  return [...walk(kind.schema, written)]
    .filter(
      ({ schema, value }) => schema instanceof z.ZodRecord && isMapping(value) && Object.hasOwn(value, '__proto__'),
    )
    .map(({ path }) => ({ path: [...path, '__proto__'], message: 'is not a name that can be used' }));
}

/** A wrong field in one corner must not hide a broken rule in another, so each object is parsed on its own. */
function brokenRules(kind: Kind, written: unknown): Finding[] {
  const findings: Finding[] = [];
  for (const { schema, value, path } of walk(kind.schema, written)) {
    const rules = rulesOf(schema);
    if (rules.length === 0) continue;
    const parsed = schema.safeParse(value);
    if (!parsed.success) continue;
    for (const rule of rules) {
      if (rule.holds(parsed.data)) continue;
      findings.push({ path: [...path, ...(rule.at === '' ? [] : rule.at.split('.'))], message: rule.says });
    }
  }
  return findings;
}
