import { z } from 'zod';
import { DNS_LABEL_PATTERN } from './fields/names.ts';
import type { Json } from './json-schema.ts';
import { KINDS, type KindName, kindOf } from './kinds/all.ts';
import { GROUP, type Kind, VERSION } from './kinds/kind.ts';
import { rulesOf } from './traits.ts';
import { isMapping } from './walk.ts';

/** The kinds the cluster learns from us. Secret and ConfigMap it has. */
export const CRD_KINDS: readonly KindName[] = KINDS.filter((name) => kindOf(name).api === 'ours');

/** The CustomResourceDefinition of one kind. */
export function crdOf(name: KindName): Json {
  const kind = kindOf(name);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: 'Namespaced',
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.kind.toLowerCase(),
        shortNames: kind.shortNames,
        categories: ['sallyport'],
      },
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          subresources: { status: {} },
          additionalPrinterColumns: [
            ...kind.columns.map(({ name, path }) => ({ name, type: 'string', jsonPath: path })),
            { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
          ],
          schema: { openAPIV3Schema: rootSchema(kind) },
        },
      ],
    },
  };
}

/** All definitions as one YAML stream, as `kubectl apply -f -` takes it. */
export async function crdYaml(): Promise<string> {
  const documents = CRD_KINDS.map(async (kind) => `---\n${await yamlOf(crdOf(kind))}`);
  return (await Promise.all(documents)).join('');
}

/**
 * YAML in the form people write it: no anchors, no folded lines that would break a pattern or a CEL rule. Readers of YAML
 * 1.1 take a bare `2026-07-28` for a date, so that what they would take for something else is quoted.
 */
export async function yamlOf(value: Json): Promise<string> {
  const { stringify } = await import('yaml');
  return stringify(value, { lineWidth: 0, aliasDuplicateObjects: false, compat: 'yaml-1.1' });
}

function rootSchema(kind: Kind): Json {
  const body = z.toJSONSchema(kind.body, { io: 'input', unrepresentable: 'any', override: addRules });
  const { properties, required } = structural(body) as { properties: Json; required?: string[] };
  return {
    type: 'object',
    description: kind.about.split('\n\n')[0],
    ...(required ? { required } : {}),
    properties: {
      apiVersion: { type: 'string' },
      kind: { type: 'string' },
      metadata: { type: 'object' },
      ...properties,
      status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
    ...(kind.names === 'label' ? { 'x-kubernetes-validations': [labelName()] } : {}),
  };
}

/** The API server allows dots and 253 characters in a name; a schema may not constrain metadata, a rule may. */
function labelName(): Json {
  return {
    rule: `self.metadata.name.size() <= 63 && self.metadata.name.matches(r'${DNS_LABEL_PATTERN}')`,
    message: 'metadata.name must be a DNS label of at most 63 characters',
  };
}

function addRules({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Json }): void {
  const rules = rulesOf(zodSchema);
  if (rules.length === 0) return;
  jsonSchema['x-kubernetes-validations'] = rules.map(({ at, says, cel }) => ({
    rule: cel,
    message: `${at} ${says}`.trim(),
    ...(at === '' ? {} : { fieldPath: `.${at}` }),
  }));
}

/**
 * JSON Schema as Kubernetes wants it. Structural schemas know no `additionalProperties: false` (unknown fields are pruned
 * or refused by the server itself), no `propertyNames`, no `const`.
 */
function structural(schema: Json): Json {
  const kept: Json = {};
  for (const [keyword, value] of Object.entries(schema)) {
    if (keyword === '$schema' || keyword === 'propertyNames') continue;
    if (keyword === 'properties' && isMapping(value)) {
      kept[keyword] = Object.fromEntries(
        Object.entries(value).map(([name, field]) => [name, structural(field as Json)]),
      );
    } else if (keyword === 'items' || (keyword === 'additionalProperties' && isMapping(value))) {
      kept[keyword] = structural(value as Json);
    } else if (keyword === 'const') {
      kept.enum = [value];
    } else if (keyword !== 'additionalProperties') {
      kept[keyword] = value;
    }
  }
  return kept;
}
