import { z } from 'zod';
import { KINDS, type KindName, kindOf } from './kinds/all.ts';
import { RunConfig } from './run-config/schema.ts';

/** JSON as a schema library writes it: plain data. */
export type Json = { [key: string]: unknown };

const BASE = 'https://sallyport.dev/schemas';

/**
 * The JSON Schema of a kind's manifests, or of all kinds for folders that mix them. Draft 7, because that is what the
 * YAML extensions of editors understand best. Rules between fields are not in it; `sally` checks those.
 */
export function jsonSchemaOf(kind: KindName | 'all'): Json {
  if (kind !== 'all') return { ...heading(kind.toLowerCase(), kind), ...manifestSchema(kind) };
  // One file without references to others, so that it can be copied anywhere.
  return {
    ...heading('all', 'Any resource of Sallyport'),
    anyOf: KINDS.map((name) => ({ $ref: `#/definitions/${name}` })),
    definitions: Object.fromEntries(KINDS.map((name) => [name, manifestSchema(name)])),
  };
}

/** The JSON Schema of what `sally export` writes and `sally run --from-config` reads. */
export function runConfigSchema(): Json {
  const { $schema: _, ...schema } = z.toJSONSchema(RunConfig, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
  });
  return { ...heading('runconfig', 'The run configuration of one workload'), ...schema };
}

function manifestSchema(name: KindName): Json {
  const kind = kindOf(name);
  const { $schema: _, ...schema } = z.toJSONSchema(kind.schema, {
    target: 'draft-7',
    io: 'input',
    unrepresentable: 'any',
  });
  return { description: kind.about.split('\n\n')[0], ...schema };
}

function heading(file: string, title: string): Json {
  return { $schema: 'http://json-schema.org/draft-07/schema#', $id: `${BASE}/${file}.json`, title };
}
