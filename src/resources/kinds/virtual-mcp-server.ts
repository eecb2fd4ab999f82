import { z } from 'zod';
import { Aggregation } from '../blocks/aggregation.ts';
import { AuthServerConfig } from '../blocks/auth-server.ts';
import { audienceOf, IncomingAuth } from '../blocks/incoming-auth.ts';
import { Operational } from '../blocks/operational.ts';
import { OutgoingAuth } from '../blocks/outgoing-auth.ts';
import { GroupRef } from '../fields/references.ts';
import { withRules } from '../traits.ts';
import { defineKind } from './kind.ts';

/** RFC 8707 §2: a resource is an absolute URI without a fragment. */
const RESOURCE = '^https?://[^#]+$';
const resource = new RegExp(RESOURCE);

const Config = z.strictObject({
  aggregation: Aggregation.prefault({}).describe('How the backends become one server: which tools, under which names.'),
  operational: Operational.prefault({}).describe('Timeouts, health checks and what happens when a backend fails.'),
});

export const VirtualMCPServerSpec = z.strictObject({
  groupRef: GroupRef.describe('The MCPGroup whose backends are served as one.'),
  incomingAuth: IncomingAuth.describe('Boundary 1: how callers prove who they are.'),
  outgoingAuth: OutgoingAuth.prefault({}).describe('Boundary 2: which credential each backend gets.'),
  config: Config.prefault({}).describe('How the backends are joined and watched.'),
  authServerConfig: AuthServerConfig.optional().describe(
    'Runs an authorization server inside this one: it sends users to identity providers, keeps their tokens and issues its own.',
  ),
});
export type VirtualMCPServerSpec = z.output<typeof VirtualMCPServerSpec>;

withRules(VirtualMCPServerSpec, [
  {
    at: 'incomingAuth.oidcConfigRef',
    says: 'is required with authServerConfig: the tokens it issues must be asked for',
    holds: (spec) => spec.authServerConfig === undefined || spec.incomingAuth.oidcConfigRef !== undefined,
    cel: '!has(self.authServerConfig) || has(self.incomingAuth.oidcConfigRef)',
  },
  {
    at: 'incomingAuth.type',
    says: 'must be oidc with authServerConfig',
    holds: (spec) => spec.authServerConfig === undefined || spec.incomingAuth.type === 'oidc',
    cel: "!has(self.authServerConfig) || self.incomingAuth.type == 'oidc'",
  },
  {
    at: 'incomingAuth.oidcConfigRef.audience',
    says: 'must be a URL without fragment with authServerConfig: clients ask for tokens by it (RFC 8707)',
    holds: (spec) => spec.authServerConfig === undefined || resource.test(audienceOf(spec.incomingAuth) ?? 'https://-'),
    cel: `!has(self.authServerConfig) || !has(self.incomingAuth.oidcConfigRef) || (has(self.incomingAuth.oidcConfigRef.audience) ? self.incomingAuth.oidcConfigRef.audience.matches(r'${RESOURCE}') : (!has(self.incomingAuth.audience) || self.incomingAuth.audience.matches(r'${RESOURCE}')))`,
  },
  {
    // Its tokens are issued for the resource a client asked for (RFC 8707), so these two can only be one URL.
    at: 'incomingAuth.oidcConfigRef.resourceUrl',
    says: 'must equal the audience with authServerConfig',
    holds: ({ authServerConfig, incomingAuth }) =>
      authServerConfig === undefined ||
      incomingAuth.oidcConfigRef?.resourceUrl === undefined ||
      audienceOf(incomingAuth) === undefined ||
      incomingAuth.oidcConfigRef.resourceUrl === audienceOf(incomingAuth),
    cel: '!has(self.authServerConfig) || !has(self.incomingAuth.oidcConfigRef) || !has(self.incomingAuth.oidcConfigRef.resourceUrl) || (has(self.incomingAuth.oidcConfigRef.audience) ? self.incomingAuth.oidcConfigRef.resourceUrl == self.incomingAuth.oidcConfigRef.audience : (!has(self.incomingAuth.audience) || self.incomingAuth.oidcConfigRef.resourceUrl == self.incomingAuth.audience))',
  },
]);

export const VirtualMCPServer = defineKind({
  kind: 'VirtualMCPServer',
  plural: 'virtualmcpservers',
  shortNames: ['vmcp', 'virtualmcp'],
  api: 'ours',
  names: 'label',
  columns: [
    { name: 'Group', path: '.spec.groupRef.name' },
    { name: 'Incoming', path: '.spec.incomingAuth.type' },
    { name: 'Outgoing', path: '.spec.outgoingAuth.source' },
  ],
  about: `One MCP endpoint in front of all backends of an MCPGroup.

It has two boundaries. \`incomingAuth\` decides who may call; \`outgoingAuth\` decides what each backend is shown on the
caller's behalf. The caller's own token ends at the first boundary. With \`authServerConfig\` the endpoint brings its own
authorization server: clients register themselves, users log in at the upstream providers, and the tokens of those
providers become available to backends.

\`config\` decides how the backends become one server. By default every tool is offered, named after its backend:
\`create\` of \`tickets\` is \`tickets_create\`. A backend that fails never empties a list: what it last offered stays, and the
list says that it is stale.

Without \`signingKeySecretRefs\` and \`hmacSecretRefs\` the keys live as long as the process: after a restart every user logs
in again. Set both, and \`storage\`, in production.`,
  example: `apiVersion: sallyport.dev/v1alpha1
kind: VirtualMCPServer
metadata:
  name: desk
spec:
  groupRef:
    name: desk-tools
  incomingAuth:
    type: oidc
    oidcConfigRef:
      name: desk-login
    audience: https://desk.example.net/mcp
  outgoingAuth:
    source: discovered
  config:
    aggregation:
      tools:
        - workload: tickets
          filter: [search, open_ticket]
          overrides:
            create:
              name: open_ticket
              description: Open a ticket at the support desk.
    operational:
      timeouts:
        perWorkload:
          tickets: 2m
  authServerConfig:
    issuer: https://desk.example.net
    signingKeySecretRefs:
      - name: desk-keys
        key: es256.pem
    hmacSecretRefs:
      - name: desk-keys
        key: hmac
    tokenLifespans:
      accessTokenLifespan: 30m
    upstreamProviders:
      - name: corp
        type: oidc
        oidcConfig:
          issuerUrl: https://login.example.net
          clientId: desk
          clientSecretRef:
            name: corp-client
            key: secret
`,
  body: z.strictObject({ spec: VirtualMCPServerSpec.describe('What to serve and for whom.') }),
});
