import { z } from 'zod';
import type { Json } from './json-schema.ts';
import { type KindName, kindOf } from './kinds/all.ts';
import { rulesOf } from './traits.ts';
import { type FieldPath, isMapping, unwrap } from './walk.ts';

export interface FieldRow {
  readonly field: string;
  readonly type: string;
  readonly required: boolean;
  readonly default: string;
  readonly description: string;
}

/** A kind's fields beside its metadata, parents before their parts. */
export function fieldRows(name: KindName): FieldRow[] {
  const schema = z.toJSONSchema(kindOf(name).body, { io: 'input', unrepresentable: 'any' }) as Json;
  return [...rowsOf(schema, '')];
}

/** Markdown: one row a field. */
export function fieldTable(name: KindName): string {
  const rows = fieldRows(name).map((row) => {
    const field = `\`${row.field}\`${row.required ? ' *' : ''}`;
    return `| ${[field, row.type, row.default, row.description].map(cell).join(' | ')} |`;
  });
  return ['| Field | Type | Default | Meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** Markdown: the rules between fields, as the validator words them. */
export function ruleList(name: KindName): string {
  const lines = [...rulesUnder(kindOf(name).body, [])];
  return lines.map((line) => `- ${line}`).join('\n');
}

function* rowsOf(schema: Json, prefix: string): Generator<FieldRow> {
  const required = Array.isArray(schema.required) ? schema.required : [];
  for (const [name, field] of Object.entries(isMapping(schema.properties) ? schema.properties : {})) {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const part = field as Json;
    yield {
      field: path,
      type: typeOf(part),
      required: required.includes(name),
      default: 'default' in part && !isMapping(part.default) ? `\`${JSON.stringify(part.default)}\`` : '',
      description: String(part.description ?? ''),
    };
    yield* partsOf(part, path);
  }
}

/** The fields inside a field: of an object, of the entries of a list, of the values of a map. */
function* partsOf(part: Json, path: string): Generator<FieldRow> {
  if (isMapping(part.items)) yield* rowsOf(part.items, `${path}[]`);
  else if (isMapping(part.additionalProperties)) yield* rowsOf(part.additionalProperties, `${path}.<name>`);
  else yield* rowsOf(part, path);
}

function typeOf(part: Json): string {
  if (Array.isArray(part.enum)) return part.enum.map((value) => `\`${value}\``).join(' or ');
  if (isMapping(part.items)) return `list of ${typeOf(part.items)}`;
  if (isMapping(part.additionalProperties)) return `map of ${typeOf(part.additionalProperties)}`;
  return String(part.title ?? part.type ?? 'anything');
}

function* rulesUnder(schema: z.ZodType, path: FieldPath): Generator<string> {
  const inner = unwrap(schema);
  for (const { at, says } of rulesOf(inner)) yield `\`${[...path, at].join('.')}\` ${says}`;
  if (inner instanceof z.ZodObject) {
    for (const [name, part] of Object.entries(inner.shape)) yield* rulesUnder(part as z.ZodType, [...path, name]);
  } else if (inner instanceof z.ZodArray) {
    yield* rulesUnder(inner.element as z.ZodType, [...path.slice(0, -1), `${path.at(-1)}[]`]);
  } else if (inner instanceof z.ZodRecord) {
    yield* rulesUnder(inner.valueType as z.ZodType, [...path, '<name>']);
  }
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
