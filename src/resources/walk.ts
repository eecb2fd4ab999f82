import { z } from 'zod';

/** Keys and indexes from the top of a manifest down to a field. */
export type FieldPath = readonly (string | number)[];

export interface Node {
  readonly schema: z.ZodType;
  readonly value: unknown;
  readonly path: FieldPath;
}

/** The schema under `.optional()` and `.default()`. */
export function unwrap(schema: z.ZodType): z.ZodType {
  let inner: z.core.$ZodType = schema;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
    inner = inner.unwrap();
  }
  return inner as z.ZodType;
}

/** Every part of a value that a schema describes, outermost first. Parts that do not fit their schema have no parts. */
export function* walk(schema: z.ZodType, value: unknown, path: FieldPath = []): Generator<Node> {
  if (value === undefined) return;
  yield { schema: unwrap(schema), value, path };
  for (const [key, part] of partsOf(value)) {
    const inner = partSchema(schema, key);
    if (inner) yield* walk(inner, part, [...path, key]);
  }
}

/** The schema at a path, or `undefined` when the path leaves what is declared. */
export function schemaAt(schema: z.ZodType, path: FieldPath): z.ZodType | undefined {
  let at: z.ZodType | undefined = schema;
  for (const key of path) {
    if (!at) return undefined;
    at = partSchema(at, key);
  }
  return at && unwrap(at);
}

/**
 * The value with its empty fields left out: in Kubernetes `spec:` without a value means the field is absent.
 * Fields that are not declared stay, so that they are still reported.
 */
export function withoutNulls(schema: z.ZodType, value: unknown): unknown {
  if (Array.isArray(value)) {
    const element = partSchema(schema, 0);
    return element ? value.map((item) => withoutNulls(element, item)) : value;
  }
  if (!isMapping(value)) return value;
  const kept: [string, unknown][] = [];
  for (const [key, part] of Object.entries(value)) {
    const inner = partSchema(schema, key);
    if (inner && part === null) continue;
    kept.push([key, inner ? withoutNulls(inner, part) : part]);
  }
  return Object.fromEntries(kept);
}

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function partSchema(schema: z.ZodType, key: string | number): z.ZodType | undefined {
  const outer = unwrap(schema);
  if (outer instanceof z.ZodObject) {
    return Object.hasOwn(outer.shape, key) ? (outer.shape[key] as z.ZodType) : undefined;
  }
  if (outer instanceof z.ZodRecord) return outer.valueType as z.ZodType;
  if (outer instanceof z.ZodArray && typeof key === 'number') return outer.element as z.ZodType;
  return undefined;
}

function partsOf(value: unknown): Iterable<readonly [string | number, unknown]> {
  if (Array.isArray(value)) return value.entries();
  return isMapping(value) ? Object.entries(value) : [];
}
