import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { CRD_KINDS, crdOf, crdYaml } from './crd.ts';
import { fieldRows, fieldTable, ruleList } from './field-table.ts';
import { type Json, jsonSchemaOf } from './json-schema.ts';
import { KINDS, kindOf } from './kinds/all.ts';
import { isMapping } from './walk.ts';

const compile = (schema: Json): ((value: unknown) => boolean) => new Ajv({ strict: false }).compile(schema);

describe('the JSON Schema', () => {
  it.each(KINDS)('of %s takes its example and refuses what is wrong with it', (kind) => {
    const accepts = compile(jsonSchemaOf(kind));
    const example = parse(kindOf(kind).example) as Json;
    expect(accepts(example)).toBe(true);
    expect(accepts({ ...example, extra: 1 })).toBe(false);
    expect(accepts({ ...example, kind: 'Other' })).toBe(false);
    expect(accepts({ ...example, apiVersion: 'apps/v1' })).toBe(false);
    expect(accepts({ ...example, metadata: { name: 'Not A Name' } })).toBe(false);
    expect(accepts({ ...example, metadata: { name: 'x', namespce: 'y' } })).toBe(false);
    expect(accepts({ ...example, status: { phase: 'Ready' } })).toBe(true);
  });

  it('of all kinds takes every example and needs no other file', () => {
    const schema = jsonSchemaOf('all');
    const accepts = compile(schema);
    for (const kind of KINDS) expect(accepts(parse(kindOf(kind).example))).toBe(true);
    expect(accepts({ kind: 'MCPGroup' })).toBe(false);
  });

  it('knows images and packages', () => {
    const accepts = compile(jsonSchemaOf('MCPServer'));
    const server = (image: string): unknown => ({ ...(parse(kindOf('MCPServer').example) as Json), spec: { image } });
    expect(['npx://a', 'acme/notes:1', 'npx://-y', 'ftp://x'].map((image) => accepts(server(image)))).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it.each(KINDS)('of %s describes every field', (kind) => {
    expect(fieldRows(kind).filter(({ description }) => description === '')).toEqual([]);
  });
});

/** Keywords of a structural schema that we use. Whatever else turns up needs a look at the Kubernetes documentation first. */
const STRUCTURAL = [
  'type',
  'description',
  'title',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'enum',
  'default',
  'pattern',
  'minLength',
  'maxLength',
  'minItems',
  'maxItems',
  'maxProperties',
  'minimum',
  'maximum',
  'x-kubernetes-validations',
  'x-kubernetes-preserve-unknown-fields',
];

function* nodesOf(schema: Json, path = ''): Generator<[string, Json]> {
  yield [path, schema];
  for (const [name, part] of Object.entries(isMapping(schema.properties) ? schema.properties : {}))
    yield* nodesOf(part as Json, `${path}.${name}`);
  for (const keyword of ['items', 'additionalProperties']) {
    if (isMapping(schema[keyword])) yield* nodesOf(schema[keyword] as Json, `${path}[]`);
  }
}

describe('the CustomResourceDefinition', () => {
  it.each(CRD_KINDS)('of %s is structural', (kind) => {
    const { spec } = crdOf(kind) as { spec: { versions: { schema: { openAPIV3Schema: Json } }[] } };
    for (const [path, node] of nodesOf(spec.versions[0]?.schema.openAPIV3Schema ?? {})) {
      expect([path, node.type]).toEqual([path, expect.stringMatching(/^(object|array|string|integer|boolean)$/)]);
      expect([path, Object.keys(node).filter((keyword) => !STRUCTURAL.includes(keyword))]).toEqual([path, []]);
      expect([path, 'properties' in node && 'additionalProperties' in node]).toEqual([path, false]);
      // Go has no look-around and no back-references.
      expect([path, /\(\?[=!<]|\\[1-9]/.test(String(node.pattern ?? ''))]).toEqual([path, false]);
    }
  });

  it('bounds maps inside lists whose entries have rules: the API server prices a rule by how often it could run', () => {
    for (const kind of CRD_KINDS) {
      const { spec } = crdOf(kind) as { spec: { versions: { schema: { openAPIV3Schema: Json } }[] } };
      for (const [path, node] of nodesOf(spec.versions[0]?.schema.openAPIV3Schema ?? {})) {
        const ruled = isMapping(node.additionalProperties) && 'x-kubernetes-validations' in node.additionalProperties;
        if (ruled && path.includes('[]')) expect([path, node.maxProperties]).toEqual([path, expect.any(Number)]);
      }
    }
  });

  it('is named, served, stored and has its status apart', () => {
    expect(crdOf('MCPServerEntry')).toMatchObject({
      apiVersion: 'apiextensions.k8s.io/v1',
      metadata: { name: 'mcpserverentries.sallyport.dev' },
      spec: {
        group: 'sallyport.dev',
        scope: 'Namespaced',
        names: {
          kind: 'MCPServerEntry',
          plural: 'mcpserverentries',
          singular: 'mcpserverentry',
          shortNames: ['mcpentry'],
        },
        versions: [{ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } }],
      },
    });
  });

  it('means the same to readers of YAML 1.1, for whom a bare 2026-07-28 is a date', async () => {
    const documents = parseAllDocuments(await crdYaml(), { version: '1.1' }).map((document) => document.toJS());
    expect(documents).toEqual(CRD_KINDS.map(crdOf));
  });

  it('exists for our kinds and not for those of Kubernetes', async () => {
    const names = parseAllDocuments(await crdYaml()).map(
      (document) => (document.toJS() as { spec: { names: { kind: string } } }).spec.names.kind,
    );
    expect(names).toEqual([
      'VirtualMCPServer',
      'MCPGroup',
      'MCPServer',
      'MCPServerEntry',
      'MCPExternalAuthConfig',
      'MCPOIDCConfig',
    ]);
  });
});

it('the field table shows path, type, default and meaning', () => {
  expect(fieldTable('MCPServerEntry')).toContain(
    '| `spec.transport` | `streamable-http` or `sse` | `"streamable-http"` | How the server speaks MCP.',
  );
  expect(fieldTable('VirtualMCPServer')).toContain('| `spec.outgoingAuth.backends.<name>.type` * |');
  expect(fieldTable('VirtualMCPServer')).toContain(
    '| `spec.config.aggregation.conflictResolutionConfig.prefixFormat` | prefix | `"{workload}_"` |',
  );
  expect(ruleList('VirtualMCPServer')).toContain(
    '- `spec.authServerConfig.upstreamProviders[].oidcConfig` is required when type is oidc',
  );
});
