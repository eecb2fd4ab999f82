import { describe, expect, it } from 'vitest';
import { readDocuments } from '../../sources/yaml-documents.ts';
import { changed, EXAMPLES, textValidator } from '../testing/examples.ts';

const { problemsOf } = textValidator(readDocuments);
type Change = readonly [from: string, to: string];

const OIDC_REF = '    oidcConfigRef:\n      name: desk-login\n    audience: https://desk.example.net/mcp\n';
const AUTH = `    type: oidc\n${OIDC_REF}`;
const PROVIDER = '      - name: corp\n        type: oidc\n';
const OIDC_BLOCK = EXAMPLES.slice(EXAMPLES.indexOf('        oidcConfig:\n'), EXAMPLES.indexOf('---'));
const EMBEDDED = EXAMPLES.slice(EXAMPLES.indexOf('  authServerConfig:'), EXAMPLES.indexOf('---'));
const REMOTE = 'remoteUrl: https://wiki.example.net/mcp\n';
const OIDC = 'VirtualMCPServer/desk: spec.incomingAuth';
const SERVER = 'VirtualMCPServer/desk: spec.authServerConfig';
const AGGREGATION = 'VirtualMCPServer/desk: spec.config.aggregation';
const OPERATIONAL = 'VirtualMCPServer/desk: spec.config.operational';
const TOOLS = EXAMPLES.slice(EXAMPLES.indexOf('      tools:\n'), EXAMPLES.indexOf('    operational:\n'));
const TIMEOUTS = EXAMPLES.slice(EXAMPLES.indexOf('      timeouts:\n'), EXAMPLES.indexOf('  authServerConfig:'));
const OVERRIDES = '          overrides:\n';
const NAME = '              name: open_ticket\n';
const aggregation = (...lines: readonly string[]): Change => [
  TOOLS,
  `${TOOLS}${lines.map((line) => `      ${line}\n`).join('')}`,
];
const failureHandling = (text: string): Change => [TIMEOUTS, `      failureHandling: {${text}}\n`];
const NEEDS_HTTPS = 'must be an https URL; http is allowed only for localhost, 127.0.0.0/8 and [::1]';

const EXCHANGE_SPEC = EXAMPLES.slice(
  EXAMPLES.indexOf('  type: tokenExchange'),
  EXAMPLES.indexOf('    subjectProviderName: corp\n') + '    subjectProviderName: corp\n'.length,
);

type Case = readonly [what: string, change: readonly Change[], problem: string];

/** One change of the examples each, and what it must bring up. */
const CASES: readonly Case[] = [
  [
    'a login in front of one server with two providers',
    [
      [
        EXCHANGE_SPEC,
        `  type: embeddedAuthServer
  embeddedAuthServer:
    issuer: https://desk.example.net/one
    upstreamProviders:
      - {name: one, type: oidc, oidcConfig: {issuerUrl: https://one.example, clientId: c}}
      - {name: two, type: oidc, oidcConfig: {issuerUrl: https://two.example, clientId: c}}
`,
      ],
    ],
    'MCPExternalAuthConfig/tickets-as-user: spec.embeddedAuthServer.upstreamProviders: must name one provider only, since the server gets the token of that one; for several write authServerConfig of a VirtualMCPServer',
  ],
  [
    'a login in front of one server without its settings',
    [[EXCHANGE_SPEC, '  type: embeddedAuthServer\n']],
    'MCPExternalAuthConfig/tickets-as-user: spec.embeddedAuthServer: is required when type is embeddedAuthServer',
  ],
  [
    'callers of a server that has no port of its own',
    [['  mcpPort: 8080\n', '  mcpPort: 8080\n  oidcConfigRef: {name: desk-login, audience: x}\n']],
    'MCPServer/tickets: spec.oidcConfigRef: needs a proxyPort: without one the server is reached through its group only, and callers are asked there',
  ],
  [
    'callers of a server with tokens for any other',
    [['  mcpPort: 8080\n', '  mcpPort: 8080\n  proxyPort: 4490\n  oidcConfigRef: {name: desk-login}\n']],
    'MCPServer/tickets: spec.oidcConfigRef.audience: is required: without it tokens for other servers would be good here',
  ],
  [
    'a login whose tokens nobody asks for',
    [['  mcpPort: 8080\n', '  mcpPort: 8080\n  proxyPort: 4490\n  authServerRef: {name: tickets-as-user}\n']],
    'MCPServer/tickets: spec.oidcConfigRef: is required with authServerRef: the tokens it issues must be asked for',
  ],
  [
    'an exchanged token in a header of the protocol',
    [['    audience: tickets\n', '    audience: tickets\n    externalTokenHeaderName: MCP-Session-Id\n']],
    'MCPExternalAuthConfig/tickets-as-user: spec.tokenExchange.externalTokenHeaderName: must not be a header of MCP, of the message or of a proxy',
  ],
  [
    'incomingAuth without a type',
    [['    type: oidc\n    oidcConfigRef', '    oidcConfigRef']],
    `${OIDC}.type: is required`,
  ],
  [
    'oidc without a config',
    [[OIDC_REF, '']],
    `${OIDC}.oidcConfig: is required when type is oidc, unless there is an oidcConfigRef`,
  ],
  [
    'two configs',
    [[OIDC_REF, `${OIDC_REF}    oidcConfig: {type: kubernetes}\n`]],
    `${OIDC}.oidcConfig: is not allowed beside oidcConfigRef: say it in one place`,
  ],
  [
    'anonymous with a reference',
    [['    type: oidc\n    oidc', '    type: anonymous\n    oidc']],
    `${OIDC}.oidcConfigRef: is allowed only when type is oidc`,
  ],
  [
    'anonymous with a config',
    [[AUTH, '    type: anonymous\n    oidcConfig: {type: kubernetes}\n']],
    `${OIDC}.oidcConfig: is allowed only when type is oidc`,
  ],
  [
    'an embedded server with anonymous',
    [[AUTH, '    type: anonymous\n']],
    `${OIDC}.type: must be oidc with authServerConfig`,
  ],
  [
    'an embedded server without reference',
    [[OIDC_REF, '    oidcConfig: {type: kubernetes}\n']],
    `${OIDC}.oidcConfigRef: is required with authServerConfig: the tokens it issues must be asked for`,
  ],
  [
    'no audience',
    [['    audience: https://desk.example.net/mcp\n', '']],
    `${OIDC}.audience: is required with oidcConfigRef, beside it or inside it`,
  ],
  [
    'an audience without reference',
    [[OIDC_REF, '    oidcConfig: {type: kubernetes}\n    audience: https://x.example\n']],
    `${OIDC}.audience: goes with oidcConfigRef only; an inline provider has oidcConfig.inline.audience`,
  ],
  [
    'two audiences',
    [['      name: desk-login\n', '      name: desk-login\n      audience: https://other.example\n']],
    `${OIDC}.audience: must equal oidcConfigRef.audience: the two are one field`,
  ],
  [
    'another resourceUrl',
    [['      name: desk-login\n', '      name: desk-login\n      resourceUrl: https://other.example\n']],
    `${OIDC}.oidcConfigRef.resourceUrl: must equal the audience with authServerConfig`,
  ],
  [
    'an audience that is no URL',
    [[OIDC_REF, '    oidcConfigRef: {name: desk-login, audience: desk}\n']],
    `${OIDC}.oidcConfigRef.audience: must be a URL without fragment with authServerConfig: clients ask for tokens by it (RFC 8707)`,
  ],
  [
    'inline without its block',
    [[OIDC_REF, '    oidcConfig: {type: inline}\n']],
    `${OIDC}.oidcConfig.inline: is required when type is inline`,
  ],
  [
    'inline with the other block',
    [[OIDC_REF, '    oidcConfig: {type: kubernetes, inline: {issuer: https://x.example, audience: x}}\n']],
    `${OIDC}.oidcConfig.inline: is allowed only when type is inline`,
  ],
  [
    'kubernetes beside inline',
    [[OIDC_REF, '    oidcConfig: {type: inline, kubernetes: {}, inline: {issuer: https://x.example, audience: x}}\n']],
    `${OIDC}.oidcConfig.kubernetes: is allowed only when type is kubernetes`,
  ],
  [
    'inline without audience',
    [[OIDC_REF, '    oidcConfig: {type: inline, inline: {issuer: https://x.example}}\n']],
    `${OIDC}.oidcConfig.inline.audience: is required`,
  ],
  [
    'an inline issuer over http',
    [[OIDC_REF, '    oidcConfig: {type: inline, inline: {issuer: http://x.example, audience: x}}\n']],
    `${OIDC}.oidcConfig.inline.issuer: must be an https URL (http is for localhost, or with insecureAllowHTTP)`,
  ],
  [
    'inline keys over http',
    [
      [
        OIDC_REF,
        '    oidcConfig: {type: inline, inline: {issuer: https://x.example, audience: x, jwksUrl: http://x.example}}\n',
      ],
    ],
    `${OIDC}.oidcConfig.inline.jwksUrl: must be an https URL (http is for localhost, or with insecureAllowHTTP)`,
  ],
  [
    'keys of a cluster over http',
    [[OIDC_REF, '    oidcConfig: {type: kubernetes, kubernetes: {jwksUrl: http://x.example}}\n']],
    `${OIDC}.oidcConfig.kubernetes.jwksUrl: ${NEEDS_HTTPS}`,
  ],
  [
    'a token file that depends on where we are',
    [
      [
        OIDC_REF,
        '    oidcConfig: {type: inline, inline: {issuer: https://x.example, audience: x, jwksAuthTokenPath: token}}\n',
      ],
    ],
    `${OIDC}.oidcConfig.inline.jwksAuthTokenPath: must be an absolute path`,
  ],
  [
    'an inline secret without client',
    [
      [
        OIDC_REF,
        '    oidcConfig: {type: inline, inline: {issuer: https://x.example, audience: x, clientSecretRef: {name: corp-client, key: secret}}}\n',
      ],
    ],
    `${OIDC}.oidcConfig.inline.clientId: is required together with clientSecretRef`,
  ],
  [
    'backends with discovered',
    [
      [
        '    source: discovered\n',
        '    source: discovered\n    backends: {tickets: {type: externalAuthConfigRef, externalAuthConfigRef: {name: tickets-as-user}}}\n',
      ],
    ],
    'VirtualMCPServer/desk: spec.outgoingAuth.backends: is allowed only when source is inline',
  ],
  [
    'a backend without reference',
    [['    source: discovered\n', '    source: inline\n    backends: {tickets: {type: externalAuthConfigRef}}\n']],
    'VirtualMCPServer/desk: spec.outgoingAuth.backends.tickets.externalAuthConfigRef: is required when type is externalAuthConfigRef',
  ],
  [
    'an unknown source',
    [['source: discovered', 'source: discoverd']],
    'VirtualMCPServer/desk: spec.outgoingAuth.source: must be `discovered` or `inline`, not `discoverd` (did you mean `discovered`?)',
  ],
  [
    'an issuer over http',
    [['    issuer: https://desk.example.net\n    signing', '    issuer: http://desk.example.net\n    signing']],
    `${SERVER}.issuer: ${NEEDS_HTTPS}; without query, fragment and closing slash`,
  ],
  [
    'an issuer with a closing slash',
    [['    issuer: https://desk.example.net\n    signing', '    issuer: https://desk.example.net/\n    signing']],
    `${SERVER}.issuer: ${NEEDS_HTTPS}; without query, fragment and closing slash`,
  ],
  [
    'a duration without unit',
    [['Lifespan: 30m', 'Lifespan: "30"']],
    `${SERVER}.tokenLifespans.accessTokenLifespan: must be a duration such as \`30s\`, \`10m\` or \`1h30m\``,
  ],
  [
    'a duration of zero',
    [['Lifespan: 30m', 'Lifespan: 0s']],
    `${SERVER}.tokenLifespans.accessTokenLifespan: must be longer than zero`,
  ],
  [
    'a long access token',
    [['accessTokenLifespan: 30m', 'accessTokenLifespan: 25h']],
    `${SERVER}.tokenLifespans.accessTokenLifespan: must be from 1m to 24h`,
  ],
  [
    'a short refresh token',
    [['accessTokenLifespan: 30m', 'refreshTokenLifespan: 59m']],
    `${SERVER}.tokenLifespans.refreshTokenLifespan: must be from 1h to 720h`,
  ],
  [
    'a long code',
    [['accessTokenLifespan: 30m', 'authCodeLifespan: 10m1s']],
    `${SERVER}.tokenLifespans.authCodeLifespan: must be from 30s to 10m`,
  ],
  [
    'no keys',
    [
      [
        '    signingKeySecretRefs:\n      - name: desk-keys\n        key: es256.pem\n',
        '    signingKeySecretRefs: []\n',
      ],
    ],
    `${SERVER}.signingKeySecretRefs: must name at least one key`,
  ],
  [
    'a provider without its block',
    [[OIDC_BLOCK, '']],
    `${SERVER}.upstreamProviders[0].oidcConfig: is required when type is oidc`,
  ],
  [
    'a provider of the other type',
    [['        type: oidc\n', '        type: oauth2\n']],
    `${SERVER}.upstreamProviders[0].oauth2Config: is required when type is oauth2`,
  ],
  [
    'a provider with the other block',
    [['        type: oidc\n', '        type: oauth2\n']],
    `${SERVER}.upstreamProviders[0].oidcConfig: is allowed only when type is oidc`,
  ],
  [
    'a provider named badly',
    [[PROVIDER, '      - name: Corp_1\n        type: oidc\n']],
    `${SERVER}.upstreamProviders[0].name: must be a DNS label: lowercase letters, digits and hyphens, a letter or digit at both ends`,
  ],
  [
    'a provider named at length',
    [[PROVIDER, `      - name: ${'c'.repeat(64)}\n        type: oidc\n`]],
    `${SERVER}.upstreamProviders[0].name: must have at most 63 characters`,
  ],
  [
    'two providers of one name',
    [
      [
        PROVIDER,
        `      - {name: corp, type: oidc, oidcConfig: {issuerUrl: https://a.example, clientId: a}}\n${PROVIDER}`,
      ],
    ],
    `${SERVER}.upstreamProviders: must have unique names: stored tokens are found by them`,
  ],
  [
    'redis without its block',
    [['    tokenLifespans:\n', '    storage: {type: redis}\n    tokenLifespans:\n']],
    `${SERVER}.storage.redis: is required when type is redis`,
  ],
  [
    'memory with redis',
    [['    tokenLifespans:\n', '    storage: {type: memory, redis: {addr: "r:1"}}\n    tokenLifespans:\n']],
    `${SERVER}.storage.redis: is allowed only when type is redis`,
  ],
  [
    'redis nowhere',
    [['    tokenLifespans:\n', '    storage: {type: redis, redis: {}}\n    tokenLifespans:\n']],
    `${SERVER}.storage.redis.addr: is required, or sentinelConfig instead of it; only one of the two`,
  ],
  [
    'redis twice',
    [
      [
        '    tokenLifespans:\n',
        '    storage: {type: redis, redis: {addr: "r:1", sentinelConfig: {masterName: m, sentinelAddrs: ["s:1"]}}}\n    tokenLifespans:\n',
      ],
    ],
    `${SERVER}.storage.redis.addr: is required, or sentinelConfig instead of it; only one of the two`,
  ],
  [
    'sentinels nowhere',
    [
      [
        '    tokenLifespans:\n',
        '    storage: {type: redis, redis: {sentinelConfig: {masterName: m}}}\n    tokenLifespans:\n',
      ],
    ],
    `${SERVER}.storage.redis.sentinelConfig.sentinelAddrs: is required, or sentinelService instead of it; only one of the two`,
  ],
  [
    'a cluster behind sentinels',
    [
      [
        '    tokenLifespans:\n',
        '    storage: {type: redis, redis: {clusterMode: true, sentinelConfig: {masterName: m, sentinelAddrs: ["s:1"]}}}\n    tokenLifespans:\n',
      ],
    ],
    `${SERVER}.storage.redis.clusterMode: needs addr, a server of the cluster`,
  ],
  [
    'certificates for sentinels that are not there',
    [
      [
        '    tokenLifespans:\n',
        '    storage: {type: redis, redis: {addr: "r:1", sentinelTls: {}}}\n    tokenLifespans:\n',
      ],
    ],
    `${SERVER}.storage.redis.sentinelTls: is allowed only with sentinelConfig`,
  ],
  [
    'an account for sentinels that are not there',
    [
      [
        '    tokenLifespans:\n',
        '    storage: {type: redis, redis: {addr: "r:1", sentinelAclUserConfig: {passwordSecretRef: {name: tickets, key: webhook-secret}}}}\n    tokenLifespans:\n',
      ],
    ],
    `${SERVER}.storage.redis.sentinelAclUserConfig: is allowed only with sentinelConfig`,
  ],
  [
    'a store that is waited for too long',
    [
      [
        '    tokenLifespans:\n',
        '    storage: {type: redis, redis: {addr: "r:1", readTimeout: 1h}}\n    tokenLifespans:\n',
      ],
    ],
    `${SERVER}.storage.redis.readTimeout: must be from 100ms to 1m`,
  ],
  [
    'an unknown way to resolve conflicts',
    [aggregation('conflictResolution: prefixed')],
    `${AGGREGATION}.conflictResolution: must be \`prefix\`, \`priority\` or \`manual\`, not \`prefixed\` (did you mean \`prefix\`?)`,
  ],
  [
    'priority without an order',
    [aggregation('conflictResolution: priority')],
    `${AGGREGATION}.conflictResolutionConfig.priorityOrder: is required when conflictResolution is priority`,
  ],
  [
    'manual without tools',
    [[TOOLS, '      conflictResolution: manual\n']],
    `${AGGREGATION}.tools: is required when conflictResolution is manual`,
  ],
  [
    'a prefix that tool names do not allow',
    [aggregation('conflictResolutionConfig: {prefixFormat: "{workload}."}')],
    `${AGGREGATION}.conflictResolutionConfig.prefixFormat: must be letters, digits, \`_\` and \`-\`, as tool names allow, and \`{workload}\` for the name of the backend`,
  ],
  [
    'a prefix with another placeholder',
    [aggregation('conflictResolutionConfig: {prefixFormat: "{server}_"}')],
    `${AGGREGATION}.conflictResolutionConfig.prefixFormat: must be letters, digits, \`_\` and \`-\`, as tool names allow, and \`{workload}\` for the name of the backend`,
  ],
  [
    'an empty prefix',
    [aggregation('conflictResolutionConfig: {prefixFormat: ""}')],
    `${AGGREGATION}.conflictResolutionConfig.prefixFormat: must not be empty`,
  ],
  [
    'a long prefix',
    [aggregation(`conflictResolutionConfig: {prefixFormat: ${'p'.repeat(65)}}`)],
    `${AGGREGATION}.conflictResolutionConfig.prefixFormat: must have at most 64 characters`,
  ],
  [
    'two entries for one backend',
    [aggregation('  - {workload: tickets, excludeAll: true}')],
    `${AGGREGATION}.tools: must not have two entries for one workload`,
  ],
  [
    'tools of no backend',
    [['        - workload: tickets\n          filter', '        - filter']],
    `${AGGREGATION}.tools[0].workload: is required`,
  ],
  [
    'a preferred backend that shows nothing',
    [
      aggregation(
        'conflictResolution: priority',
        'conflictResolutionConfig: {priorityOrder: [tickets, wiki]}',
        'defaultToolVisibility: deny',
      ),
    ],
    `${AGGREGATION}.conflictResolutionConfig.priorityOrder: must name only workloads of tools when defaultToolVisibility is deny: no other backend offers a tool`,
  ],
  [
    'an override that changes nothing',
    [[OVERRIDES, `${OVERRIDES}            close: {}\n`]],
    `${AGGREGATION}.tools[0].overrides.close.name: is required, or description, or annotations: the override changes nothing`,
  ],
  ...['open ticket', 'open.ticket', '', 't'.repeat(65)].map(
    (name): Case => [
      `a tool called ${JSON.stringify(name)}`,
      [[NAME, `              name: "${name}"\n`]],
      `${AGGREGATION}.tools[0].overrides.create.name: must be 1 to 64 letters, digits, \`_\` and \`-\``,
    ],
  ),
  [
    'an annotation that nobody knows',
    [[NAME, '              annotations: {readonlyHint: true}\n']],
    `${AGGREGATION}.tools[0].overrides.create.annotations.readonlyHint: is not a known field (did you mean \`readOnlyHint\`?)`,
  ],
  [
    'too many overrides',
    [
      [
        OVERRIDES,
        `${OVERRIDES}${Array.from({ length: 256 }, (_, index) => `            t${index}: {description: x}\n`).join('')}`,
      ],
    ],
    `${AGGREGATION}.tools[0].overrides: must have at most 256 entries`,
  ],
  [
    'a part of the configuration that we do not have',
    [['  config:\n', '  config:\n    telemetry: {}\n']],
    'VirtualMCPServer/desk: spec.config.telemetry: is not a known field (allowed here: aggregation, operational)',
  ],
  [
    'a timeout without unit',
    [['          tickets: 2m\n', '          tickets: "120"\n']],
    `${OPERATIONAL}.timeouts.perWorkload.tickets: must be a duration such as \`30s\`, \`10m\` or \`1h30m\``,
  ],
  [
    'a timeout that no timer can wait for',
    [['          tickets: 2m\n', '          tickets: 24h1s\n']],
    `${OPERATIONAL}.timeouts.perWorkload.tickets: must be at most 24h`,
  ],
  [
    'a health check that outlasts its interval',
    [failureHandling('healthCheckInterval: 10s')],
    `${OPERATIONAL}.failureHandling.healthCheckTimeout: must be less than healthCheckInterval`,
  ],
  [
    'a backend that is never healthy',
    [failureHandling('unhealthyThreshold: 0')],
    `${OPERATIONAL}.failureHandling.unhealthyThreshold: must be at least 1`,
  ],
  [
    'a breaker that is always open',
    [failureHandling('circuitBreaker: {failureThreshold: 0}')],
    `${OPERATIONAL}.failureHandling.circuitBreaker.failureThreshold: must be at least 1`,
  ],
  [
    'a breaker that hardly opens',
    [failureHandling('circuitBreaker: {timeout: 999ms}')],
    `${OPERATIONAL}.failureHandling.circuitBreaker.timeout: must be at least 1s`,
  ],
  [
    'lists that fail as a whole',
    [failureHandling('partialFailureMode: fail')],
    `${OPERATIONAL}.failureHandling.partialFailureMode: must be \`best_effort\` or left out: a failing backend never takes the lists of the others with it, so \`fail\` is not offered`,
  ],
  [
    'processes per session for an HTTP server',
    [['  mcpPort: 8080\n', '  mcpPort: 8080\n  sessionMode: per-session\n']],
    'MCPServer/tickets: spec.sessionMode: must be shared unless transport is stdio: over HTTP a server tells its sessions apart itself',
  ],
  [
    'an unknown session mode',
    [['  mcpPort: 8080\n', '  sessionMode: perSession\n']],
    'MCPServer/tickets: spec.sessionMode: must be `shared` or `per-session`, not `perSession` (did you mean `per-session`?)',
  ],
  [
    'a server that speaks an unknown revision',
    [['  mcpPort: 8080\n', '  revision: 2026-07-29\n']],
    'MCPServer/tickets: spec.revision: must be `auto`, `legacy` or `2026-07-28`, not `2026-07-29` (did you mean `2026-07-28`?)',
  ],
  [
    'a server that speaks a new revision over an old transport',
    [['  transport: streamable-http\n  mcpPort', '  transport: sse\n  revision: 2026-07-28\n  mcpPort']],
    'MCPServer/tickets: spec.revision: must not be 2026-07-28 when transport is sse: that transport ended before that revision',
  ],
  [
    'an entry that speaks a new revision over an old transport',
    [['  transport: streamable-http\n  groupRef', '  transport: sse\n  revision: 2026-07-28\n  groupRef']],
    'MCPServerEntry/wiki: spec.revision: must not be 2026-07-28 when transport is sse: that transport ended before that revision',
  ],
  [
    'a credential without its block',
    [['  type: tokenExchange\n', '  type: bearerToken\n']],
    'MCPExternalAuthConfig/tickets-as-user: spec.bearerToken: is required when type is bearerToken',
  ],
  [
    'a credential with another block',
    [['  type: tokenExchange\n', '  type: unauthenticated\n']],
    'MCPExternalAuthConfig/tickets-as-user: spec.tokenExchange: is allowed only when type is tokenExchange',
  ],
  [
    'an exchange secret without client',
    [['    clientId: desk\n    clientSecretRef:', '    clientSecretRef:']],
    'MCPExternalAuthConfig/tickets-as-user: spec.tokenExchange.clientId: is required together with clientSecretRef',
  ],
  [
    'an exchange over http',
    [['tokenUrl: https', 'tokenUrl: http']],
    `MCPExternalAuthConfig/tickets-as-user: spec.tokenExchange.tokenUrl: ${NEEDS_HTTPS}`,
  ],
  [
    'a framing header',
    [
      [
        '  type: tokenExchange\n',
        '  type: tokenExchange\n  headerInjection: {headerName: Transfer-Encoding, valueSecretRef: {name: tickets, key: webhook-secret}}\n',
      ],
    ],
    'MCPExternalAuthConfig/tickets-as-user: spec.headerInjection.headerName: must not be a header that frames the HTTP message',
  ],
  [
    'an OIDC config without its block',
    [['  type: inline\n  inline:\n    issuer: https://desk.example.net\n', '  type: inline\n']],
    'MCPOIDCConfig/desk-login: spec.inline: is required when type is inline',
  ],
  [
    'an OIDC issuer over http',
    [['  inline:\n    issuer: https', '  inline:\n    issuer: http']],
    'MCPOIDCConfig/desk-login: spec.inline.issuer: must be an https URL (http is for localhost, or with insecureAllowHTTP)',
  ],
  [
    'keys over http',
    [['  inline:\n    issuer', '  inline:\n    jwksUrl: http://x.example/keys\n    issuer']],
    'MCPOIDCConfig/desk-login: spec.inline.jwksUrl: must be an https URL (http is for localhost, or with insecureAllowHTTP)',
  ],
  [
    'introspection over http',
    [['  inline:\n    issuer', '  inline:\n    introspectionUrl: http://x.example/i\n    issuer']],
    'MCPOIDCConfig/desk-login: spec.inline.introspectionUrl: must be an https URL (http is for localhost, or with insecureAllowHTTP)',
  ],
  [
    'an OIDC secret without client',
    [['  inline:\n    issuer', '  inline:\n    clientSecretRef: {name: corp-client, key: secret}\n    issuer']],
    'MCPOIDCConfig/desk-login: spec.inline.clientId: is required together with clientSecretRef',
  ],
  [
    'an unknown builtin profile',
    [['    name: network\n', '    name: all\n']],
    'MCPServer/tickets: spec.permissionProfile.name: must be none or network for a builtin profile',
  ],
  [
    'a builtin profile with a key',
    [['    name: network\n', '    name: network\n    key: x\n']],
    'MCPServer/tickets: spec.permissionProfile.key: is allowed only when type is configmap',
  ],
  [
    'a variable named twice',
    [['  env:\n', '  env:\n    - {name: TICKETS_URL}\n']],
    'MCPServer/tickets: spec.env: must not name a variable twice',
  ],
  [
    'a secret over a variable',
    [['targetEnvName: WEBHOOK_SECRET', 'targetEnvName: TICKETS_URL']],
    'MCPServer/tickets: spec.secrets: must not fill a variable that env or another secret fills',
  ],
  [
    'two secrets in one variable',
    [['  secrets:\n', '  secrets:\n    - {name: tickets, key: webhook-secret, targetEnvName: WEBHOOK_SECRET}\n']],
    'MCPServer/tickets: spec.secrets: must not fill a variable that env or another secret fills',
  ],
  [
    'a port out of range',
    [['mcpPort: 8080', 'mcpPort: 80800']],
    'MCPServer/tickets: spec.mcpPort: must be a port from 1 to 65535',
  ],
  [
    'a relative mount',
    [['  permissionProfile:\n', '  volumes: [{name: v, hostPath: data, mountPath: /data}]\n  permissionProfile:\n']],
    'MCPServer/tickets: spec.volumes[0].hostPath: must be an absolute path without colons',
  ],
  [
    'a remote server at home',
    [[REMOTE, 'remoteUrl: http://127.0.0.1:9000/mcp\n']],
    'MCPServerEntry/wiki: spec.remoteUrl: points at this machine or a private network; set allowPrivateEndpoint: true if that is meant',
  ],
  [
    'a remote server at the metadata address',
    [[REMOTE, 'remoteUrl: http://169.254.169.254/\n  allowPrivateEndpoint: true\n']],
    'MCPServerEntry/wiki: spec.remoteUrl: must not point at link-local, metadata or cluster API addresses',
  ],
  [
    'a remote server in disguise',
    [[REMOTE, 'remoteUrl: http://2130706433/\n']],
    'MCPServerEntry/wiki: spec.remoteUrl: must write an IPv4 address as four decimal numbers',
  ],
  [
    'a remote URL with a user',
    [[REMOTE, 'remoteUrl: https://user:pass@wiki.example.net/\n']],
    'MCPServerEntry/wiki: spec.remoteUrl: must be an http or https URL with a host',
  ],
  [
    'a remote URL with an impossible port',
    [[REMOTE, 'remoteUrl: https://wiki.example.net:99999/\n']],
    'MCPServerEntry/wiki: spec.remoteUrl: is not a URL: its host or port is malformed',
  ],
  [
    'an entry without group',
    [['  groupRef:\n    name: desk-tools\n  headerForward', '  headerForward']],
    'MCPServerEntry/wiki: spec.groupRef: is required',
  ],
  [
    'a header with a line break',
    [['X-Team: support', 'X-Team: "a\\nb"']],
    'MCPServerEntry/wiki: spec.headerForward.addPlaintextHeaders.X-Team: must be one line of printable ASCII characters',
  ],
  [
    'a broken base64',
    [['data: {es256.pem: a2V5', 'data: {es256.pem: a2V']],
    'Secret/desk-keys: data["es256.pem"]: must be base64 (RFC 4648 §4, with padding)',
  ],
];

describe('the rules report', () => {
  it.each(CASES)('%s', (_, change, problem) => {
    expect(problemsOf(changed(...change))).toContain(problem);
  });
});

describe('the rules allow', () => {
  it.each<[string, readonly Change[]]>([
    [
      'a server on this machine that is meant',
      [[REMOTE, 'remoteUrl: http://localhost:9000/mcp\n  allowPrivateEndpoint: true\n']],
    ],
    [
      'http issuers on this machine',
      [
        ['issuer: https://desk.example.net', 'issuer: http://localhost:4483'],
        ['issuer: https://desk.example.net', 'issuer: http://localhost:4483'],
      ],
    ],
    [
      'http issuers with the waiver',
      [
        ['    issuer: https://desk.example.net\n    signing', '    issuer: http://[::1]:1\n    signing'],
        [
          '    issuer: https://desk.example.net\n',
          '    issuer: http://[::1]:1\n    insecureAllowHTTP: true\n    jwksUrl: http://keys.example/x\n',
        ],
      ],
    ],
    [
      'aggregation and operation in full',
      [
        [
          TOOLS,
          `      conflictResolution: priority
      conflictResolutionConfig: {prefixFormat: "x-{workload}__", priorityOrder: [wiki, tickets]}
      tools:
        - {workload: wiki, excludeAll: true}
        - workload: tickets
          filter: [notes.search, open_ticket]
          overrides:
            notes/create: {name: open_ticket, description: "Two\\nlines", annotations: {title: Open}}
            notes.search: {annotations: {readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false}}
      excludeAllTools: false
      defaultToolVisibility: deny
`,
        ],
        [
          TIMEOUTS,
          `      timeouts: {default: 1m, perWorkload: {tickets: 24h, wiki: 500ms}}
      failureHandling:
        healthCheckInterval: 20s
        healthCheckTimeout: 5s
        unhealthyThreshold: 2
        partialFailureMode: best_effort
        circuitBreaker: {enabled: false, failureThreshold: 1, timeout: 1s}
`,
        ],
      ],
    ],
    ['a prefix that is the same for all', [aggregation('conflictResolutionConfig: {prefixFormat: desk_}')]],
    [
      'a process per session, and revisions that are known',
      [
        ['  transport: streamable-http\n  mcpPort: 8080\n', '  sessionMode: per-session\n  revision: legacy\n'],
        [
          '  groupRef:\n    name: desk-tools\n  headerForward',
          '  revision: 2026-07-28\n  groupRef:\n    name: desk-tools\n  headerForward',
        ],
      ],
    ],
    [
      'the store of the seed',
      [
        [
          '    tokenLifespans:\n',
          '    storage: {type: redis, redis: {sentinelConfig: {masterName: m, sentinelAddrs: ["s-0:26379", "[fd00::1]:26379"], db: 2}, aclUserConfig: {passwordSecretRef: {name: tickets, key: webhook-secret}}, tls: {}}}\n    tokenLifespans:\n',
        ],
      ],
    ],
    [
      'an OAuth provider in full',
      [
        [
          PROVIDER,
          `      - name: chat
        type: oauth2
        oauth2Config:
          authorizationEndpoint: https://chat.example/authorize
          tokenEndpoint: https://chat.example/token
          clientId: c
          clientSecretRef: {name: corp-client, key: secret}
          scopes: [read, "urn:x:y"]
          userInfo:
            endpointUrl: https://chat.example/me
            httpMethod: POST
            additionalHeaders: {X-Version: "2"}
            fieldMapping: {subjectFields: [id, login], nameFields: [name], emailFields: [mail]}
          tokenResponseMapping: {accessTokenPath: authed_user.access_token, scopePath: a.scope, refreshTokenPath: a.r, expiresInPath: a.e}
${PROVIDER}`,
        ],
      ],
    ],
    [
      'the inline OIDC of the seed',
      [
        [
          OIDC_REF,
          '    oidcConfig: {type: inline, inline: {issuer: https://x.example/, clientId: c, audience: x, clientSecretRef: {name: corp-client, key: secret}}}\n',
        ],
        [EMBEDDED, ''],
        ['    subjectProviderName: corp\n', ''],
      ],
    ],
    [
      'service accounts of the cluster',
      [
        [OIDC_REF, '    oidcConfig: {type: kubernetes}\n'],
        [EMBEDDED, ''],
        ['    subjectProviderName: corp\n', ''],
      ],
    ],
  ])('%s', (_, change) => {
    expect(problemsOf(changed(...change))).toEqual([]);
  });
});
