import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDocuments } from '../../sources/yaml-documents.ts';
import { KINDS, kindOf } from '../kinds/all.ts';
import { changed, EXAMPLES, textValidator } from '../testing/examples.ts';
import { ConfigError, formatPath, formatProblem } from './problem.ts';
import { validateResources } from './validate.ts';

const { problemsOf, validateText } = textValidator(readDocuments);
const origin = { file: 'memory.yaml', locate: () => ({ line: 1, column: 1 }) };

describe('a set of resources', () => {
  it('made of the examples in the documentation has no problems', () => {
    expect(problemsOf(EXAMPLES)).toEqual([]);
  });

  it('comes out typed, with its defaults and without what the cluster wrote', () => {
    const { resources } = validateText(
      changed(
        ['  name: wiki\n', '  name: wiki\n  uid: 1f3c\n  managedFields: [{}]\n  labels: {team: desk}\n'],
        ['      X-Team: support\n', '      X-Team: support\nstatus: {phase: Ready}\n'],
      ),
    );
    const wiki = resources.find('MCPServerEntry', 'default', 'wiki');
    expect(wiki?.spec).toMatchObject({ transport: 'streamable-http', revision: 'auto', allowPrivateEndpoint: false });
    expect(wiki?.metadata).toEqual({ name: 'wiki', namespace: 'default', labels: { team: 'desk' } });
    expect(Object.keys(wiki ?? {}).sort()).toEqual(['kind', 'metadata', 'origin', 'spec']);
    expect(resources.virtualMcpServers[0]?.spec.authServerConfig?.tokenLifespans).toEqual({
      accessTokenLifespan: '30m',
      refreshTokenLifespan: '168h',
      loginLifespan: '720h',
      authCodeLifespan: '10m',
    });
    expect(resources.mcpServers[0]?.spec).toMatchObject({
      args: [],
      volumes: [],
      transport: 'streamable-http',
      sessionMode: 'shared',
      revision: 'auto',
    });
  });

  it('has the whole configuration of a virtual server, however little of it was written', () => {
    const text = (spec: string): string =>
      `apiVersion: sallyport.dev/v1alpha1\nkind: VirtualMCPServer\nmetadata: {name: desk}\nspec: {groupRef: {name: tools}, incomingAuth: {type: anonymous}${spec}}\n`;
    const defaults = {
      aggregation: {
        conflictResolution: 'prefix',
        conflictResolutionConfig: { prefixFormat: '{workload}_', priorityOrder: [] },
        tools: [],
        excludeAllTools: false,
        defaultToolVisibility: 'allow',
      },
      operational: {
        timeouts: { default: '30s', perWorkload: {} },
        failureHandling: {
          healthCheckInterval: '30s',
          healthCheckTimeout: '10s',
          unhealthyThreshold: 3,
          circuitBreaker: { enabled: true, failureThreshold: 5, timeout: '60s' },
        },
      },
    };
    for (const written of [
      '',
      ', config: {}',
      ', config: {aggregation:, operational: {failureHandling: {circuitBreaker: {}}}}',
    ]) {
      expect(validateText(text(written)).resources.virtualMcpServers[0]?.spec.config).toEqual(defaults);
    }
    const tools = validateText(text(', config: {aggregation: {tools: [{workload: a}]}}')).resources.virtualMcpServers[0]
      ?.spec.config.aggregation.tools;
    expect(tools).toEqual([{ workload: 'a', filter: [], overrides: {}, excludeAll: false }]);
  });

  it('takes an empty field for an absent one, as Kubernetes does', () => {
    const text = 'apiVersion: sallyport.dev/v1alpha1\nkind: MCPGroup\nmetadata: {name: tools, labels:}\nspec:\n';
    const { resources, problems } = validateText(text);
    expect(problems).toEqual([]);
    expect(resources.mcpGroups[0]?.spec).toEqual({});
  });

  it('may name the same resource in two namespaces', () => {
    const group = (namespace: string): string =>
      `apiVersion: sallyport.dev/v1alpha1\nkind: MCPGroup\nmetadata: {name: tools, namespace: ${namespace}}\n`;
    expect(problemsOf(`${group('a')}---\n${group('b')}`)).toEqual([]);
  });

  it('loads manifests written for ToolHive', () => {
    const text = `
apiVersion: toolhive.stacklok.dev/v1beta1
kind: VirtualMCPServer
metadata: {name: desk, namespace: ai}
spec:
  groupRef: {name: desk-tools}
  incomingAuth:
    type: oidc
    oidcConfigRef: {name: desk-as, audience: "https://desk.example.net/mcp", resourceUrl: "https://desk.example.net/mcp"}
  outgoingAuth: {source: discovered}
  config:
    aggregation:
      conflictResolution: prefix
      conflictResolutionConfig: {prefixFormat: "{workload}_"}
    operational:
      timeouts: {default: 30s}
      failureHandling: {partialFailureMode: best_effort, circuitBreaker: {enabled: true, failureThreshold: 5, timeout: 60s}}
  authServerConfig:
    issuer: "https://desk.example.net"
    signingKeySecretRefs: [{name: desk-keys, key: es256.pem}]
    hmacSecretRefs: [{name: desk-keys, key: hmac}]
    upstreamProviders:
      - name: corp
        type: oidc
        oidcConfig: {issuerUrl: "https://login.example.net", clientId: desk, clientSecretRef: {name: corp, key: secret}}
---
apiVersion: toolhive.stacklok.dev/v1alpha1
kind: MCPGroup
metadata: {name: desk-tools, namespace: ai}
---
apiVersion: toolhive.stacklok.dev/v1beta1
kind: MCPOIDCConfig
metadata: {name: desk-as, namespace: ai}
spec: {type: inline, inline: {issuer: "https://desk.example.net", jwksAllowPrivateIP: true}}
`;
    expect(problemsOf(text, { secretExists: () => true })).toEqual([]);
  });

  it('takes both places for the audience', () => {
    const inside = [
      '      name: desk-login\n',
      '      name: desk-login\n      audience: https://desk.example.net/mcp\n',
    ] as const;
    expect(problemsOf(changed(inside))).toEqual([]);
    expect(problemsOf(changed(inside, ['    audience: https://desk.example.net/mcp\n', '']))).toEqual([]);
  });
});

describe('a problem', () => {
  it('has the exact place of the field, or of its parent when the field is missing', () => {
    const text = `apiVersion: sallyport.dev/v1alpha1
kind: MCPServer
metadata:
  name: notes
spec:
  imagee: ghcr.io/acme/notes
  env:
    - name: PORT
      value: 8080
`;
    expect(validateText(text).problems.map(formatProblem)).toEqual([
      'desk.yaml:5:1: MCPServer/notes: spec.image: is required',
      'desk.yaml:6:3: MCPServer/notes: spec.imagee: is not a known field (did you mean `image`?)',
      'desk.yaml:9:7: MCPServer/notes: spec.env[0].value: must be a string, not a number (put the value in quotes)',
    ]);
  });

  it('does not hide the others', () => {
    const text = changed(
      ['image: ghcr.io', 'image: ftp://ghcr.io'],
      ['type: builtin', 'type: configmap'],
      ['kind: MCPGroup', 'kind: McpGroop'],
    );
    expect(problemsOf(text)).toEqual([
      'VirtualMCPServer/desk: spec.groupRef.name: names no MCPGroup of namespace `default`',
      '?: kind: is not a kind Sallyport knows (did you mean `MCPGroup`?)',
      'MCPServer/tickets: spec.image: has the scheme `ftp://`; a package is written as npx://, uvx:// or go://',
      'MCPServer/tickets: spec.permissionProfile.key: is required when type is configmap',
      'MCPServerEntry/wiki: spec.groupRef.name: names no MCPGroup of namespace `default`',
    ]);
  });

  it('of a resource is not repeated at every reference to it', () => {
    expect(problemsOf(changed(['  description: What', '  descripton: What']))).toEqual([
      'MCPGroup/desk-tools: spec.descripton: is not a known field (did you mean `description`?)',
    ]);
  });

  it('never shows the value of a secret', () => {
    const text = changed(['stringData:\n  secret: a-value', 'data:\n  secret: hunter2-not-base64!\n  x: a-value']);
    expect(problemsOf(text).join()).not.toMatch('hunter2');
  });

  it.each([
    [
      'kind: Deployment\napiVersion: apps/v1',
      [
        '?: kind: is not a kind Sallyport knows (known kinds: VirtualMCPServer, MCPGroup, MCPServer, MCPServerEntry, MCPExternalAuthConfig, MCPOIDCConfig, Secret, ConfigMap)',
        '?: apiVersion: is not an API Sallyport knows (write `sallyport.dev/v1alpha1`)',
      ],
    ],
    [
      'metadata: {name: x}',
      [
        '?: kind: is required (VirtualMCPServer, MCPGroup, MCPServer, MCPServerEntry, MCPExternalAuthConfig, MCPOIDCConfig, Secret, ConfigMap)',
        '?: apiVersion: is required (write `sallyport.dev/v1alpha1`)',
      ],
    ],
    ['just a text', ['?: : must be a mapping with apiVersion, kind, metadata and the fields of the kind']],
    ['kind: MCPGroup\nmetadata: {name: x}', ['MCPGroup/x: apiVersion: is required']],
    [
      'kind: MCPGroup\napiVersion: v1\nmetadata: {name: x}',
      [
        'MCPGroup/x: apiVersion: must be `sallyport.dev/v1alpha1`, `toolhive.stacklok.dev/v1alpha1` or `toolhive.stacklok.dev/v1beta1`, not `v1`',
      ],
    ],
    ['kind: MCPGroup\napiVersion: sallyport.dev/v1alpha1', ['MCPGroup: metadata: is required']],
    [
      'kind: MCPGroup\napiVersion: sallyport.dev/v1alpha1\nmetadata: {name: Tools.x}',
      [
        'MCPGroup/Tools.x: metadata.name: must be a DNS label: lowercase letters, digits and hyphens, a letter or digit at both ends',
      ],
    ],
    [
      `kind: MCPGroup\napiVersion: sallyport.dev/v1alpha1\nmetadata: {name: ${'x'.repeat(64)}}`,
      [`MCPGroup/${'x'.repeat(64)}: metadata.name: must have at most 63 characters`],
    ],
    [
      'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a.b}\ndata: {"a/b": x}',
      ['ConfigMap/a.b: data["a/b"]: has a name that must be letters, digits, `-`, `_` and `.`'],
    ],
    [
      'kind: ConfigMap\napiVersion: v1\nmetadata: {name: a, qqqqq: 1}\ndata: [x]',
      [
        'ConfigMap/a: metadata.qqqqq: is not a known field (allowed here: name, namespace, labels, annotations)',
        'ConfigMap/a: data: must be a mapping, not a list',
      ],
    ],
  ])('is reported for %j', (text, expected) => {
    expect(problemsOf(text)).toEqual(expected);
  });

  it('quotes a name that would write on the terminal', () => {
    const [problem] = validateText('apiVersion: v1\nkind: Secret\nmetadata: {name: "a\\nb\\e[31m"}\n').problems;
    expect(problem?.resource).toBe('Secret/"a\\nb\\u001b[31m"');
  });

  it('quotes the name of a file that would write on the terminal', () => {
    const at = { line: 1, column: 1, path: '', message: 'is wrong' };
    expect(formatProblem({ ...at, file: 'a b.yaml' })).toBe('a b.yaml:1:1: is wrong');
    expect(formatProblem({ ...at, file: 'a\n\u009b31m\u202e.yaml' })).toBe(
      '"a\\n\\u{9b}31m\\u{202e}.yaml":1:1: is wrong',
    );
    expect(formatPath(['a\u009b'])).toBe('["a\\u{9b}"]');
  });

  it('is a key that would get lost', () => {
    const text = 'apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData: {__proto__: x}\n';
    expect(problemsOf(text)).toEqual(['Secret/a: stringData.__proto__: is not a name that can be used']);
  });

  it('is a name declared twice, whatever the API group', () => {
    const group = (api: string): string => `apiVersion: ${api}\nkind: MCPGroup\nmetadata:\n  name: tools\n`;
    const { problems } = validateText(
      `${group('sallyport.dev/v1alpha1')}---\n${group('toolhive.stacklok.dev/v1beta1')}`,
    );
    expect(problems.map(formatProblem)).toEqual([
      'desk.yaml:9:3: MCPGroup/tools: metadata.name: is taken: desk.yaml:4:3 declares the same MCPGroup in namespace `default`',
    ]);
  });
});

it('finds very many problems in one resource', { timeout: 60_000 }, () => {
  const spec = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`k${index}`, 1]));
  const value = { apiVersion: 'sallyport.dev/v1alpha1', kind: 'MCPGroup', metadata: { name: 'x' }, spec };
  expect(validateResources([{ value, origin }]).problems).toHaveLength(200_000);
});

it('a ConfigError counts its problems', () => {
  const { problems } = validateText('1\n---\n2\n');
  expect(new ConfigError(problems)).toMatchObject({
    code: 'config.invalid',
    message: '2 problems in the resources',
    problems,
  });
  expect(new ConfigError(problems.slice(1)).message).toBe('1 problem in the resources');
});

it('a path quotes keys that are not plain words', () => {
  expect(formatPath(['data', 'ca.crt', 0, 'x-y'])).toBe('data["ca.crt"][0].x-y');
});

it('no value makes the validator throw', () => {
  const fields = KINDS.flatMap((kind) => Object.keys(kindOf(kind).body.shape));
  const key = fc.oneof(
    fc.constantFrom('apiVersion', 'kind', 'metadata', 'name', 'constructor', '__proto__', ...fields),
    fc.string(),
  );
  const json = fc.letrec((tie) => ({
    value: fc.oneof({ maxDepth: 4 }, fc.jsonValue({ maxDepth: 1 }), fc.constantFrom(...KINDS, 'v1'), tie('map')),
    map: fc.dictionary(key, tie('value')),
  }));
  const manifest = fc.record({
    apiVersion: fc.constantFrom('sallyport.dev/v1alpha1', 'v1'),
    kind: fc.constantFrom(...KINDS),
    metadata: fc.oneof(fc.record({ name: fc.constantFrom('a', 'b') }), json.map),
    spec: json.map,
    data: json.value,
    stringData: json.value,
  });
  fc.assert(
    fc.property(fc.array(fc.oneof(manifest, json.value)), (values) => {
      for (const problem of validateResources(values.map((value) => ({ value, origin }))).problems)
        formatProblem(problem);
    }),
    { numRuns: 200 },
  );
});
