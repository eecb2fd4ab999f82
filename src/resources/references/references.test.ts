import { describe, expect, it } from 'vitest';
import { readDocuments } from '../../sources/yaml-documents.ts';
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
    'two backends of one name',
    [['  name: wiki\n', '  name: tickets\n']],
    [
      'MCPServerEntry/tickets: metadata.name: is taken in MCPGroup/desk-tools: desk.yaml:45:3 declares MCPServer/tickets',
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

  it('a secret only when it is nowhere, with the hint of who would supply it', () => {
    const text = changed(['      - name: desk-keys\n        key: hmac', '      - name: nothing\n        key: hmac']);
    const asked: unknown[] = [];
    const secretExists = (place: unknown): boolean => asked.push(place) > 0;
    expect(problemsOf(text, { secretExists })).toEqual([]);
    expect(asked).toContainEqual({ namespace: 'default', name: 'nothing', key: 'hmac' });
    expect(problemsOf(text, { secretHint: ({ name }) => `set ${name}` })[0]).toMatch('(set nothing)');
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
