import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { parseDuration } from '../base/index.ts';
import { KINDS, kindOf } from './kinds/all.ts';
import { type Rule, rulesOf } from './traits.ts';
import { unwrap } from './walk.ts';

interface RuledObject {
  readonly where: string;
  readonly schema: z.ZodObject;
  readonly rule: Rule<unknown>;
}

/** Every rule of every kind, with the object it is about. */
const RULES = KINDS.flatMap((kind) => [...ruledObjects(kindOf(kind).body, kind)]);

function* ruledObjects(schema: z.ZodType, where: string): Generator<RuledObject> {
  const inner = unwrap(schema);
  if (inner instanceof z.ZodObject) {
    for (const rule of rulesOf(inner)) yield { where: `${where}: ${rule.at} ${rule.says}`, schema: inner, rule };
    for (const [name, part] of Object.entries(inner.shape)) yield* ruledObjects(part as z.ZodType, `${where}.${name}`);
  } else if (inner instanceof z.ZodArray) yield* ruledObjects(inner.element as z.ZodType, `${where}[]`);
  else if (inner instanceof z.ZodRecord) yield* ruledObjects(inner.valueType as z.ZodType, `${where}.*`);
}

/** CEL as far as our rules use it, turned into JavaScript. A construct that is not here fails the test, which is the point. */
function evaluate(cel: string, self: unknown): boolean {
  const strings: string[] = [];
  const code = cel
    .replace(/r?'([^']*)'/g, (_, text: string) => `$${strings.push(text) - 1}$`)
    .replace(/has\(([\w.]+)\)/g, '($1 != null)')
    .replace(/([\w.]+) in \[([^\]]*)\]/g, '[$2].includes($1)')
    .replace(/\.(all|exists|filter)\((\w), /g, (_, name: string, item: string) => `.${JS[name]}(${item} => `)
    .replaceAll('.size()', '.length')
    .replaceAll('.lowerAscii()', '.toLowerCase()')
    .replaceAll('.matches(', '.match(')
    .replace(/\$(\d+)\$/g, (_, index: string) => JSON.stringify(strings[Number(index)]));
  return Boolean(new Function('self', 'duration', `return ${code};`)(self, parseDuration));
}
const JS: Readonly<Record<string, string>> = { all: 'every', exists: 'some', filter: 'filter' };

const URLS = [
  'https://a.example',
  'https://b.example/mcp',
  'http://c.example',
  'http://localhost:1',
  'http://127.1',
  'http://169.254.1.1',
  'http://[::1]/',
];

/** Values that fit a schema, drawn from few words so that the interesting coincidences happen. */
function valuesOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  const inner = unwrap(schema);
  const own = ((): fc.Arbitrary<unknown> => {
    if (inner instanceof z.ZodObject) {
      const parts = Object.entries(inner.shape).map(([name, part]) => [name, valuesOf(part as z.ZodType)] as const);
      return fc.record(Object.fromEntries(parts)).map(withoutAbsent);
    }
    if (inner instanceof z.ZodArray) {
      const minLength = inner.safeParse([]).success ? 0 : 1;
      return fc.array(valuesOf(inner.element as z.ZodType), { minLength, maxLength: 2 });
    }
    if (inner instanceof z.ZodRecord)
      return fc.dictionary(fc.constantFrom('a', 'b'), valuesOf(inner.valueType as z.ZodType), { maxKeys: 2 });
    if (inner instanceof z.ZodEnum) return fc.constantFrom(...inner.options);
    if (inner instanceof z.ZodBoolean) return fc.boolean();
    if (inner instanceof z.ZodNumber) return fc.constantFrom(0, 1, 5);
    const words = [
      'a',
      'b',
      'none',
      'h:1',
      'notes',
      '/a',
      '500ms',
      '30s',
      '1h',
      '30h',
      'openid',
      'com.a',
      ...URLS,
    ].filter((word) => inner.safeParse(word).success);
    return fc.constantFrom(...words);
  })();
  return schema instanceof z.ZodOptional ? fc.option(own, { nil: undefined }) : own;
}

function withoutAbsent(value: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, part]) => part !== undefined));
}

describe('the API server and the validator agree that', () => {
  it.each(RULES)('$where', ({ schema, rule }) => {
    const verdicts = new Set<boolean>();
    fc.assert(
      fc.property(valuesOf(schema), (written) => {
        const parsed = schema.safeParse(written);
        if (!parsed.success) return;
        verdicts.add(rule.holds(parsed.data));
        expect(evaluate(rule.cel, parsed.data)).toBe(rule.holds(parsed.data));
      }),
      { numRuns: 400, seed: 7 },
    );
    // A comparison that never saw the rule broken would prove nothing.
    expect([...verdicts].sort()).toEqual([false, true]);
  });
});

it('rules name fields that exist', () => {
  for (const { schema, rule } of RULES) {
    for (const [, name] of rule.cel.matchAll(/self\.(\w+)/g)) expect(Object.keys(schema.shape)).toContain(name);
    expect(Object.keys(schema.shape)).toContain(rule.at.split('.')[0]);
    expect(rule.cel.split('(').length).toBe(rule.cel.split(')').length);
  }
});
