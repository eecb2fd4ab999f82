import { z } from 'zod';

/**
 * A rule between fields of one object. `says` continues the sentence that starts with the field's path, `cel` states
 * the same rule for the Kubernetes API server; `cel.test.ts` keeps `holds` and `cel` equal.
 */
export interface Rule<T> {
  /** The field the problem is reported at, relative to the object (`inline.issuer`); empty for the object itself. */
  readonly at: string;
  readonly says: string;
  readonly holds: (value: T) => boolean;
  readonly cel: string;
}

/** Kinds that other resources name in their fields. */
export type ReferredKind = 'MCPGroup' | 'MCPExternalAuthConfig' | 'MCPOIDCConfig' | 'Secret' | 'ConfigMap';

interface Traits {
  readonly rules?: readonly Rule<never>[];
  readonly refersTo?: ReferredKind;
}

/** What a schema carries beside its shape. A zod registry follows a schema through `.describe()`, a WeakMap would not. */
const traits = z.registry<Traits>();

export function withRules<S extends z.ZodType>(schema: S, rules: readonly Rule<z.output<S>>[]): S {
  traits.add(schema, { ...traits.get(schema), rules });
  return schema;
}

/** Marks an object with `name` (and `key`) as a reference, so that one check follows them all. */
export function refersTo<S extends z.ZodType>(kind: ReferredKind, schema: S): S {
  traits.add(schema, { ...traits.get(schema), refersTo: kind });
  return schema;
}

/** The rules of a schema. They take the schema's own parsed output, which the caller vouches for. */
export function rulesOf(schema: z.core.$ZodType): readonly Rule<unknown>[] {
  return (traits.get(schema)?.rules ?? []) as readonly Rule<unknown>[];
}

export function referredKind(schema: z.core.$ZodType): ReferredKind | undefined {
  return traits.get(schema)?.refersTo;
}
