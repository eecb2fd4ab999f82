import { describe, expect, it } from 'vitest';
import { readDocuments } from '../../sources/yaml-documents.ts';
import type { SecretPlace } from '../secret-values.ts';
import { changed, EXAMPLES, textValidator } from '../testing/examples.ts';
import { backendsOf, externalAuthOf } from './backends.ts';

const { problemsOf, validateText } = textValidator(readDocuments);
type Change = readonly [from: string, to: string];

const SERVER = EXAMPLES.slice(EXAMPLES.indexOf('  authServerConfig:'), EXAMPLES.indexOf('---'));
const AUTH = '    type: oidc\n    oidcConfigRef:\n      name: desk-login\n    audience: https://desk.example.net/mcp\n';
const ANONYMOUS: readonly Change[] = [
  [SERVER, ''],
  [AUTH, '    type: anonymous\n'],
];
const INLINE: Change = [
  '    source: discovered\n',
  '    source: inline\n    backends:\n      wiki: {type: externalAuthConfigRef, externalAuthConfigRef: {name: tickets-as-user}}\n',
];
const INJECT: Change = [
  EXAMPLES.slice(EXAMPLES.indexOf('  type: tokenExchange'), EXAMPLES.indexOf('    subjectProviderName: corp\n') + 30),
  '  type: upstreamInject\n  upstreamInject:\n    providerName: corp\n',
];
const HEAD = 'apiVersion: sallyport.dev/v1alpha1\n';
const OVERRIDES = '          overrides:\n';
const TOOLS = 'VirtualMCPServer/desk: spec.config.aggregation.tools[0]';
const needsServer = (backend: string): string =>
  `VirtualMCPServer/desk: spec.authServerConfig: is required: backend \`${backend}\` gets tokens of the login at \`corp\` (MCPExternalAuthConfig/tickets-as-user)`;

const CASES: readonly (readonly [what: string, change: readonly Change[], problems: readonly string[]])[] = [
  [
    'a group that is not there',
    [['    name: desk-tools\n', '    name: desk-tool\n']],
    [
      'VirtualMCPServer/desk: spec.groupRef.name: names no MCPGroup of namespace `default` (did you mean `desk-tools`?)',
    ],
  ],
  [
    'a credential that is not there',
    [['  externalAuthConfigRef:\n    name: tickets-as-user', '  externalAuthConfigRef:\n    name: other']],
    ['MCPServer/tickets: spec.externalAuthConfigRef.name: names no MCPExternalAuthConfig of namespace `default`'],
  ],
  [
    'an OIDC config that is not there',
    [['      name: desk-login\n', '      name: x\n']],
    ['VirtualMCPServer/desk: spec.incomingAuth.oidcConfigRef.name: names no MCPOIDCConfig of namespace `default`'],
  ],
  [
    'a resource of another namespace',
    [['kind: MCPOIDCConfig\nmetadata:\n', 'kind: MCPOIDCConfig\nmetadata:\n  namespace: other\n']],
    ['VirtualMCPServer/desk: spec.incomingAuth.oidcConfigRef.name: names no MCPOIDCConfig of namespace `default`'],
  ],
  [
    'a Secret that is not there',
    [['      - name: desk-keys\n        key: hmac', '      - name: nothing\n        key: hmac']],
    [
      'VirtualMCPServer/desk: spec.authServerConfig.hmacSecretRefs[0].name: names no Secret of namespace `default` (declare the Secret, or supply its value from outside)',
    ],
  ],
  [
    'a key that is not there',
    [['key: es256.pem', 'key: rsa.pem']],
    [
      'VirtualMCPServer/desk: spec.authServerConfig.signingKeySecretRefs[0].key: is not a key of Secret/desk-keys (it has: es256.pem, hmac)',
    ],
  ],
  [
    'a secret of a server that is not there',
    [['      key: webhook-secret', '      key: other']],
    ['MCPServer/tickets: spec.secrets[0].key: is not a key of Secret/tickets (it has: webhook-secret)'],
  ],
  [
    'a profile that is not there',
    [['type: builtin\n    name: network', 'type: configmap\n    name: profiles\n    key: other.json']],
    ['MCPServer/tickets: spec.permissionProfile.key: is not a key of ConfigMap/profiles (it has: tickets.json)'],
  ],
  [
    'certificates that are not there',
    [['  headerForward:\n', '  caBundleRef: {configMapRef: {name: profiles}}\n  headerForward:\n']],
    [
      'MCPServerEntry/wiki: spec.caBundleRef.configMapRef.key: is not a key of ConfigMap/profiles (it has: tickets.json)',
    ],
  ],
  [
    'a stranger among the backends',
    [
      [
        '    source: discovered\n',
        '    source: inline\n    backends:\n      wikki: {type: externalAuthConfigRef, externalAuthConfigRef: {name: tickets-as-user}}\n',
      ],
    ],
    [
      'VirtualMCPServer/desk: spec.outgoingAuth.backends.wikki: is not a backend of MCPGroup/desk-tools (did you mean `wiki`?)',
    ],
  ],
  [
    'strangers in the configuration',
    [
      ['        - workload: tickets\n', '        - workload: ticket\n'],
      ['          tickets: 2m\n', '          nothing: 2m\n'],
      [
        '    aggregation:\n',
        '    aggregation:\n      conflictResolution: priority\n      conflictResolutionConfig: {priorityOrder: [wiki, wikis]}\n',
      ],
    ],
    [
      'VirtualMCPServer/desk: spec.config.aggregation.conflictResolutionConfig.priorityOrder[1]: is not a backend of MCPGroup/desk-tools (did you mean `wiki`?)',
      'VirtualMCPServer/desk: spec.config.aggregation.tools[0].workload: is not a backend of MCPGroup/desk-tools (did you mean `tickets`?)',
      'VirtualMCPServer/desk: spec.config.operational.timeouts.perWorkload.nothing: is not a backend of MCPGroup/desk-tools (members: tickets, wiki)',
    ],
  ],
  [
    'a backend of another group in the configuration',
    [
      ['  groupRef:\n    name: desk-tools\n  headerForward', '  groupRef:\n    name: others\n  headerForward'],
      ['          tickets: 2m\n', '          wiki: 2m\n'],
      ['kind: MCPServer\n', `kind: MCPGroup\nmetadata: {name: others}\n---\n${HEAD}kind: MCPServer\n`],
    ],
    [
      'VirtualMCPServer/desk: spec.config.operational.timeouts.perWorkload.wiki: is not a backend of MCPGroup/desk-tools (members: tickets)',
    ],
  ],
  [
    'two tools under one new name',
    [[OVERRIDES, `${OVERRIDES}            reopen: {name: open_ticket}\n`]],
    [`${TOOLS}.overrides.create.name: is the name of another tool of this backend: \`reopen\` gets it too`],
  ],
  [
    'a new name that another tool keeps',
    [[OVERRIDES, `${OVERRIDES}            open_ticket: {annotations: {readOnlyHint: false}}\n`]],
    [`${TOOLS}.overrides.create.name: is the name of another tool of this backend: \`open_ticket\` keeps it`],
  ],
  [
    'a filter with a former name',
    [['filter: [search, open_ticket]', 'filter: [search, create]']],
    [`${TOOLS}.filter[1]: is the name from before overrides; filter takes the name they give (write \`open_ticket\`)`],
  ],
  [
    'two backends of one name',
    [['  name: wiki\n', '  name: tickets\n']],
    [
      'MCPServerEntry/tickets: metadata.name: is taken in MCPGroup/desk-tools: desk.yaml:58:3 declares MCPServer/tickets',
    ],
  ],
  [
    'issuers that differ',
    [['    issuer: https://desk.example.net\n    signing', '    issuer: https://desk.example.net/as\n    signing']],
    [
      'VirtualMCPServer/desk: spec.authServerConfig.issuer: must equal the issuer of MCPOIDCConfig/desk-login, which is https://desk.example.net',
    ],
  ],
  [
    'a provider that is not there, for an exchange',
    [['subjectProviderName: corp', 'subjectProviderName: crop']],
    [
      'MCPExternalAuthConfig/tickets-as-user: spec.tokenExchange.subjectProviderName: is not an upstream provider of VirtualMCPServer/desk (did you mean `corp`?)',
    ],
  ],
  [
    'a provider that is not there, for an injection',
    [INJECT, ['providerName: corp', 'providerName: github']],
    [
      'MCPExternalAuthConfig/tickets-as-user: spec.upstreamInject.providerName: is not an upstream provider of VirtualMCPServer/desk (it has: corp)',
    ],
  ],
  ['a login that nobody runs, discovered', [INJECT, ...ANONYMOUS], [needsServer('tickets')]],
  ['a login that nobody runs, inline', [INJECT, ...ANONYMOUS, INLINE], [needsServer('wiki')]],
  [
    'an exchange of no token',
    [...ANONYMOUS, ['    subjectProviderName: corp\n', '']],
    [
      'VirtualMCPServer/desk: spec.incomingAuth.type: must be oidc: backend `tickets` exchanges the token of the caller (MCPExternalAuthConfig/tickets-as-user), and anonymous callers have none',
    ],
  ],
];

describe('references report', () => {
  it.each(CASES)('%s', (_, change, problems) => {
    expect(problemsOf(changed(...change))).toEqual(problems);
  });

  it('every virtual server in front of a backend that it cannot log in for', () => {
    const second = `---
apiVersion: sallyport.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: open}
spec: {groupRef: {name: desk-tools}, incomingAuth: {type: anonymous}}
`;
    expect(problemsOf(`${changed(INJECT)}${second}`)).toEqual([needsServer('tickets').replace('/desk:', '/open:')]);
  });

  it('no tools that swap their names', () => {
    const swapped = '            a: {name: b}\n            b: {name: a}\n';
    expect(
      problemsOf(changed([OVERRIDES, `${OVERRIDES}${swapped}`], ['filter: [search, open_ticket]', 'filter: [a, b]'])),
    ).toEqual([]);
  });

  it('no name of a backend when that backend has problems of its own', () => {
    expect(problemsOf(changed(['image: ghcr.io', 'image: ftp://ghcr.io']))).toEqual([
      'MCPServer/tickets: spec.image: has the scheme `ftp://`; a package is written as npx://, uvx:// or go://',
    ]);
  });

  it('a secret only when it is nowhere, with the hint of who would supply it', () => {
    const text = changed(['      - name: desk-keys\n        key: hmac', '      - name: nothing\n        key: hmac']);
    const asked: unknown[] = [];
    const secretExists = (place: unknown): boolean => asked.push(place) > 0;
    expect(problemsOf(text, { secretExists })).toEqual([]);
    expect(asked).toContainEqual({ namespace: 'default', name: 'nothing', key: 'hmac' });
    expect(problemsOf(text, { secretHint: ({ name }) => `set ${name}` })[0]).toMatch('(set nothing)');
  });

  it('two secrets that would share a variable, each pair once', () => {
    const server = (name: string, namespace: string, refs: string): string =>
      `${HEAD}kind: MCPServer\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec:\n  image: npx://x\n  secrets:\n${refs}---\n`;
    const ref = (name: string, key: string, target: string): string =>
      `    - {name: ${name}, key: ${key}, targetEnvName: ${target}}\n`;
    const text = [
      server('one', 'default', ref('a-b', 'c', 'X') + ref('a', 'b-c', 'Y')),
      server('two', 'default', ref('a-b', 'c', 'X')),
      server('three', 'team', ref('a-b', 'c', 'X')),
    ].join('');
    const secretVariable = ({ namespace, name, key }: SecretPlace): string =>
      `${namespace}_${name}_${key}`.toUpperCase().replaceAll('-', '_');
    expect(problemsOf(text, { secretExists: () => true })).toEqual([]);
    expect(problemsOf(text, { secretExists: () => true, secretVariable })).toEqual([
      'MCPServer/one: spec.secrets[1]: would be read from DEFAULT_A_B_C, as key `c` of secret `a-b` at desk.yaml:7:7 (rename one of the two)',
    ]);
  });

  it('a secret of bytes that are no text', () => {
    expect(problemsOf(changed(['hmac: aG1hYw==', 'hmac: //79']))).toEqual([
      'VirtualMCPServer/desk: spec.authServerConfig.hmacSecretRefs[0].key: names bytes of Secret/desk-keys that are not text in UTF-8 (encode a key of random bytes as base64 text before it goes into the Secret)',
    ]);
  });
});

describe('a server at a port of its own', () => {
  const LOGIN =
    'issuer: "http://127.0.0.1:4490", upstreamProviders: [{name: corp, type: oidc, oidcConfig: {issuerUrl: https://login.example.net, clientId: c}}]';
  const auth = (name: string, spec: string): string =>
    `---\n${HEAD}kind: MCPExternalAuthConfig\nmetadata: {name: ${name}}\nspec: {${spec}}\n`;
  const OTHERS = [
    `---\n${HEAD}kind: MCPOIDCConfig\nmetadata: {name: callers}\nspec: {type: inline, inline: {issuer: "http://127.0.0.1:4490"}}\n`,
    auth('login', `type: embeddedAuthServer, embeddedAuthServer: {${LOGIN}}`),
    auth('exchange', 'type: tokenExchange, tokenExchange: {tokenUrl: https://login.example.net/token}'),
    auth('of-corp', 'type: upstreamInject, upstreamInject: {providerName: corp}'),
    auth('of-hub', 'type: tokenExchange, tokenExchange: {tokenUrl: https://x.example, subjectProviderName: hub}'),
    auth('key', 'type: headerInjection, headerInjection: {headerName: X-Key, valueSecretRef: {name: k, key: k}}'),
  ].join('');
  const CALLERS = 'oidcConfigRef: {name: callers, audience: "http://127.0.0.1:4490/mcp"}';
  const server = (fields: string, name = 'notes', port = 4490): string =>
    `${HEAD}kind: MCPServer\nmetadata: {name: ${name}}\nspec: {image: npx://notes, transport: streamable-http, proxyPort: ${port}, ${fields}}\n`;
  const problemsWith = (fields: string, more = ''): string[] =>
    problemsOf(`${server(fields)}${OTHERS}${more}`, { secretExists: () => true });

  it.each([
    ['a login', `${CALLERS}, authServerRef: {name: login}`],
    ['a login in the words of ToolHive', `${CALLERS}, authServerRef: {kind: MCPExternalAuthConfig, name: login}`],
    ['a login in place of a credential', `${CALLERS}, externalAuthConfigRef: {name: login}`],
    [
      'a login and its token by name',
      `${CALLERS}, authServerRef: {name: login}, externalAuthConfigRef: {name: of-corp}`,
    ],
    ['tokens of an issuer elsewhere, exchanged', `${CALLERS}, externalAuthConfigRef: {name: exchange}`],
    ['a key that is the same for all', 'externalAuthConfigRef: {name: key}'],
  ])('may have %s', (_, fields) => {
    expect(problemsWith(fields)).toEqual([]);
  });

  it.each([
    [
      'an exchange of no token',
      'externalAuthConfigRef: {name: exchange}',
      'spec.oidcConfigRef: is required at a proxyPort: backend `notes` exchanges the token of the caller (MCPExternalAuthConfig/exchange), and anonymous callers have none',
    ],
    [
      'a token of a login that there is not',
      `${CALLERS}, externalAuthConfigRef: {name: of-corp}`,
      'spec.authServerRef: is required: backend `notes` gets tokens of the login at `corp` (MCPExternalAuthConfig/of-corp)',
    ],
    [
      'a credential for a login',
      `${CALLERS}, authServerRef: {name: key}`,
      'spec.authServerRef.name: names a credential (type headerInjection), not an authorization server (a credential belongs into externalAuthConfigRef)',
    ],
    [
      'two logins',
      `${CALLERS}, authServerRef: {name: login}, externalAuthConfigRef: {name: login}`,
      'spec.externalAuthConfigRef.name: names a second authorization server beside authServerRef; a port has one',
    ],
    [
      'a login whose tokens nobody asks for',
      'externalAuthConfigRef: {name: login}',
      'spec.oidcConfigRef: is required: the tokens of MCPExternalAuthConfig/login must be asked for',
    ],
    [
      'a login for an audience that is no URL',
      'oidcConfigRef: {name: callers, audience: notes}, authServerRef: {name: login}',
      'spec.oidcConfigRef.audience: must be a URL without fragment with an authorization server: clients ask for tokens by it (RFC 8707)',
    ],
    [
      'a login for one URL at another',
      `oidcConfigRef: {name: callers, audience: "http://127.0.0.1:4490/mcp", resourceUrl: "https://notes.example.net/mcp"}, authServerRef: {name: login}`,
      'spec.oidcConfigRef.resourceUrl: must equal the audience with an authorization server',
    ],
  ])('must not have %s', (_, fields, problem) => {
    expect(problemsWith(fields)).toEqual([`MCPServer/notes: ${problem}`]);
  });

  it('must not have a login without the port', () => {
    const text = `${server('externalAuthConfigRef: {name: login}').replace('proxyPort: 4490, ', '')}${OTHERS}`;
    expect(problemsOf(text, { secretExists: () => true })).toEqual([
      'MCPServer/notes: spec.externalAuthConfigRef: is an authorization server (MCPExternalAuthConfig/login), which needs a proxyPort to answer at',
    ]);
  });

  it('must not ask for tokens of another issuer than its login', () => {
    const others = OTHERS.replace(
      'inline: {issuer: "http://127.0.0.1:4490"}',
      'inline: {issuer: https://other.example}',
    );
    const text = `${server(`${CALLERS}, authServerRef: {name: login}`)}${others}`;
    expect(problemsOf(text, { secretExists: () => true })).toEqual([
      'MCPExternalAuthConfig/login: spec.embeddedAuthServer.issuer: must equal the issuer of MCPOIDCConfig/callers, which is https://other.example: MCPServer/notes asks for its tokens',
    ]);
  });

  it('must not get a token of a provider that its login does not visit', () => {
    const fields = `${CALLERS}, authServerRef: {name: login}, externalAuthConfigRef: {name: of-hub}`;
    expect(problemsWith(fields)).toEqual([
      'MCPExternalAuthConfig/of-hub: spec.tokenExchange.subjectProviderName: is not an upstream provider of MCPServer/notes (it has: corp)',
    ]);
  });

  it('must not share its issuer with another one', () => {
    const fields = `${CALLERS}, authServerRef: {name: login}`;
    expect(problemsWith(fields, `---\n${server(fields, 'other', 4491)}`)).toEqual([
      'MCPServer/other: spec.authServerRef.name: leads to the issuer http://127.0.0.1:4490, which is that of MCPServer/notes already; each needs its own',
    ]);
  });

  it('keeps its login for itself: behind a virtual server it is no credential', () => {
    const group = `---\n${HEAD}kind: MCPGroup\nmetadata: {name: desk}\n---\n${HEAD}kind: VirtualMCPServer\nmetadata: {name: desk}\nspec: {groupRef: {name: desk}, incomingAuth: {type: anonymous}}\n`;
    const inGroup = 'groupRef: {name: desk}';
    expect(problemsWith(`${CALLERS}, ${inGroup}, authServerRef: {name: login}`, group)).toEqual([]);
    expect(problemsWith(`${CALLERS}, ${inGroup}, externalAuthConfigRef: {name: login}`, group)).toEqual([
      'MCPServer/notes: spec.externalAuthConfigRef.name: names an authorization server for a port of its own, which is no credential behind VirtualMCPServer/desk (name it in authServerRef of the MCPServer, and a credential here)',
    ]);
    const inline = group.replace(
      'incomingAuth',
      'outgoingAuth: {source: inline, backends: {notes: {type: externalAuthConfigRef, externalAuthConfigRef: {name: login}}}}, incomingAuth',
    );
    expect(problemsWith(inGroup, inline)).toEqual([
      'VirtualMCPServer/desk: spec.outgoingAuth.backends.notes.externalAuthConfigRef.name: names an authorization server for a port of its own, which is no credential behind VirtualMCPServer/desk (name it in authServerRef of the MCPServer, and a credential here)',
    ]);
  });
});

describe('ports of MCPServers', () => {
  const server = (name: string, spec: string, namespace = 'default'): string =>
    `${HEAD}kind: MCPServer\nmetadata: {name: ${name}, namespace: ${namespace}}\nspec: {image: npx://x, transport: streamable-http, ${spec}}\n`;
  const problemsWith = (...servers: readonly string[]): string[] => problemsOf(servers.join('---\n'));

  it.each([
    ['proxyPort', 'proxyPort'],
    ['mcpPort', 'mcpPort'],
    ['mcpPort', 'proxyPort'],
    ['proxyPort', 'mcpPort'],
  ])('%s of one and %s of another differ, also across namespaces', (first, second) => {
    expect(problemsWith(server('a', `${first}: 4490`), server('b', `${second}: 4490`, 'team'))).toEqual([
      `MCPServer/b: spec.${second}: is taken: desk.yaml:4:52 gives port 4490 to MCPServer/a as ${first}`,
    ]);
    expect(problemsWith(server('a', `${first}: 4490`), server('b', `${second}: 4491`))).toEqual([]);
  });

  it('differ within one server that is a process', () => {
    expect(problemsWith(server('a', 'proxyPort: 4490, mcpPort: 4490'))).toEqual([
      'MCPServer/a: spec.mcpPort: is taken: desk.yaml:4:52 gives port 4490 to this server as proxyPort',
    ]);
  });

  it('may be the same inside of containers, and where nobody listens', () => {
    const container = server('b', 'mcpPort: 8080, proxyPort: 8081').replace('npx://x', 'ghcr.io/acme/b:1');
    const stdio = server('c', 'mcpPort: 8080').replace('streamable-http', 'stdio');
    expect(problemsWith(server('a', 'mcpPort: 8080'), container, stdio)).toEqual([]);
  });
});

describe('a backend', () => {
  it('follows its own reference when discovered, the map when inline', () => {
    for (const [change, expected] of [
      [[], { tickets: 'tickets-as-user', wiki: undefined }],
      [[INLINE], { tickets: undefined, wiki: 'tickets-as-user' }],
    ] as const) {
      const { resources } = validateText(changed(...change));
      const [server] = resources.virtualMcpServers;
      if (!server) throw new Error('no server');
      const found = backendsOf(resources, server).map((backend) => [
        backend.metadata.name,
        externalAuthOf(resources, server, backend)?.metadata.name,
      ]);
      expect(Object.fromEntries(found)).toEqual(expected);
    }
  });
});
