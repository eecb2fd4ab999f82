import { z } from 'zod';
import { OidcConfigRef } from '../blocks/incoming-auth.ts';
import { ServerImage } from '../fields/image.ts';
import { DataKey, DnsLabel, DnsSubdomain, EnvName } from '../fields/names.ts';
import { AuthServerRef, ExternalAuthConfigRef, GroupRef } from '../fields/references.ts';
import { revisionField, revisionFitsTransport } from '../fields/revision.ts';
import { MAX_ITEMS, Port } from '../fields/text.ts';
import { type Rule, refersTo, withRules } from '../traits.ts';
import { defineKind } from './kind.ts';

const EnvVar = z.strictObject({
  name: EnvName.describe('Name of the variable.'),
  value: z.string().max(32_768).default('').describe('Its value. Secrets belong into `secrets`.'),
});

const SecretEnv = refersTo(
  'Secret',
  z.strictObject({
    name: DnsSubdomain.describe('Name of the Secret, in the same namespace.'),
    key: DataKey.describe('The key whose value is used.'),
    targetEnvName: EnvName.optional().describe('Variable that gets the value; the key itself when not given.'),
  }),
);

/** Where something is, on the host or in the container; both are handed to the container runtime as they are. */
const AbsolutePath = z
  .string()
  .max(4096)
  .regex(/^\/[^:\p{Cc}]*$/u, 'must be an absolute path without colons')
  .meta({ title: 'path' });

const Volume = z.strictObject({
  name: DnsLabel.describe('Name of the volume.'),
  hostPath: AbsolutePath.describe('File or folder on this machine.'),
  mountPath: AbsolutePath.describe('Where the server sees it.'),
  readOnly: z.boolean().default(false).describe('The server may not change it.'),
});

const PermissionProfile = z.strictObject({
  type: z.enum(['builtin', 'configmap']).default('builtin').describe('A profile of ours, or your own in a ConfigMap.'),
  name: DnsSubdomain.describe('`none` or `network` for a builtin profile; else the name of the ConfigMap.'),
  key: DataKey.optional().describe('Key in the ConfigMap with the profile as JSON.'),
});
withRules(PermissionProfile, [
  {
    at: 'name',
    says: 'must be none or network for a builtin profile',
    holds: (profile) => profile.type !== 'builtin' || ['none', 'network'].includes(profile.name),
    cel: "self.type != 'builtin' || self.name in ['none', 'network']",
  },
  {
    at: 'key',
    says: 'is required when type is configmap',
    holds: (profile) => profile.type !== 'configmap' || profile.key !== undefined,
    cel: "self.type != 'configmap' || has(self.key)",
  },
  {
    at: 'key',
    says: 'is allowed only when type is configmap',
    holds: (profile) => profile.type === 'configmap' || profile.key === undefined,
    cel: "self.type == 'configmap' || !has(self.key)",
  },
]);

export const MCPServerSpec = z.strictObject({
  image: ServerImage.describe(
    'What to run: a container image, or `npx://package`, `uvx://package`, `go://module`, `go://./folder`.',
  ),
  transport: z
    .enum(['stdio', 'streamable-http', 'sse'])
    .default('stdio')
    .describe('How the server speaks MCP. `sse` is the transport of 2024 and deprecated.'),
  sessionMode: z
    .enum(['shared', 'per-session'])
    .default('shared')
    .describe(
      '`shared`: one process serves all clients. `per-session`: each client session gets a process of its own, for servers that keep state about their one client; only with transport `stdio`.',
    ),
  revision: revisionField,
  args: z.array(z.string().max(4096)).max(256).default([]).describe('Arguments for the server.'),
  env: z
    .array(EnvVar)
    .max(MAX_ITEMS)
    .default([])
    .describe(
      'Environment of the server. A process also gets `PATH`, `HOME`, locale, proxy and package tool settings of Sallyport, and little else.',
    ),
  secrets: z.array(SecretEnv).max(MAX_ITEMS).default([]).describe('Secrets handed over as environment variables.'),
  mcpPort: Port.optional().describe(
    'Port the server listens on. Has a meaning for the HTTP transports only. Packages share the ports of this machine, so each needs one of its own.',
  ),
  proxyPort: Port.optional().describe(
    'Port at which the server is also served alone. Without it, it is reached through its group only.',
  ),
  volumes: z.array(Volume).max(MAX_ITEMS).default([]).describe('Files and folders the server may see.'),
  permissionProfile: PermissionProfile.optional().describe(
    'What the server may reach. Packages run as processes, which bubblewrap confines where there is a profile or a volume; without it they are refused.',
  ),
  groupRef: GroupRef.optional().describe('The MCPGroup this server is a backend of.'),
  externalAuthConfigRef: ExternalAuthConfigRef.optional().describe(
    'The credential this server gets. An authorization server (type `embeddedAuthServer`) here is the same as in `authServerRef`.',
  ),
  oidcConfigRef: OidcConfigRef.optional().describe(
    'Boundary 1 at `proxyPort`: whose tokens callers must show. Without it anybody who reaches the port may call.',
  ),
  authServerRef: AuthServerRef.optional().describe(
    'An authorization server at `proxyPort` (MCPExternalAuthConfig of type `embeddedAuthServer`): callers log in at its provider, and this server gets the token that they have there.',
  ),
});
export type MCPServerSpec = z.output<typeof MCPServerSpec>;

withRules(MCPServerSpec, [
  {
    at: 'sessionMode',
    says: 'must be shared unless transport is stdio: over HTTP a server tells its sessions apart itself',
    holds: ({ sessionMode, transport }) => sessionMode === 'shared' || transport === 'stdio',
    cel: "self.sessionMode == 'shared' || self.transport == 'stdio'",
  },
  revisionFitsTransport<MCPServerSpec>(),
  atItsPort('oidcConfigRef'),
  atItsPort('authServerRef'),
  {
    at: 'oidcConfigRef',
    says: 'is required with authServerRef: the tokens it issues must be asked for',
    holds: ({ authServerRef, oidcConfigRef }) => authServerRef === undefined || oidcConfigRef !== undefined,
    cel: '!has(self.authServerRef) || has(self.oidcConfigRef)',
  },
  {
    at: 'oidcConfigRef.audience',
    says: 'is required: without it tokens for other servers would be good here',
    holds: ({ oidcConfigRef }) => oidcConfigRef === undefined || oidcConfigRef.audience !== undefined,
    cel: '!has(self.oidcConfigRef) || has(self.oidcConfigRef.audience)',
  },
  {
    at: 'env',
    says: 'must not name a variable twice',
    holds: ({ env }) => env.every(({ name }) => env.filter((other) => other.name === name).length === 1),
    cel: 'self.env.all(e, self.env.filter(o, o.name == e.name).size() == 1)',
  },
  {
    at: 'secrets',
    says: 'must not fill a variable that env or another secret fills',
    holds: ({ env, secrets }) => {
      const targets = secrets.map(({ key, targetEnvName }) => targetEnvName ?? key);
      return new Set(targets).size === targets.length && !env.some(({ name }) => targets.includes(name));
    },
    cel: 'self.secrets.all(s, self.secrets.filter(o, (has(o.targetEnvName) ? o.targetEnvName : o.key) == (has(s.targetEnvName) ? s.targetEnvName : s.key)).size() == 1 && !self.env.exists(e, e.name == (has(s.targetEnvName) ? s.targetEnvName : s.key)))',
  },
]);

/** Behind a virtual server it is that one which asks callers who they are. */
function atItsPort(field: 'oidcConfigRef' | 'authServerRef'): Rule<MCPServerSpec> {
  return {
    at: field,
    says: 'needs a proxyPort: without one the server is reached through its group only, and callers are asked there',
    holds: (spec) => spec[field] === undefined || spec.proxyPort !== undefined,
    cel: `!has(self.${field}) || has(self.proxyPort)`,
  };
}

export const MCPServer = defineKind({
  kind: 'MCPServer',
  plural: 'mcpservers',
  shortNames: ['mcpserver'],
  api: 'ours',
  names: 'label',
  columns: [
    { name: 'Image', path: '.spec.image' },
    { name: 'Transport', path: '.spec.transport' },
    { name: 'Group', path: '.spec.groupRef.name' },
  ],
  about: `An MCP server that Sallyport runs.

It runs from a container image, or from a package of npm, PyPI or Go. In a group it is a backend of every
VirtualMCPServer that serves the group; \`externalAuthConfigRef\` says which credential it then gets.

With \`proxyPort\` it is also served alone, at \`/mcp\` of that port, with both boundaries of its own: \`oidcConfigRef\` says
whose tokens callers must show, \`externalAuthConfigRef\` what the server gets in their place. With \`authServerRef\` callers
log in at that port, and the server gets the token that they have at the provider, unless \`externalAuthConfigRef\` says
otherwise.`,
  example: `apiVersion: sallyport.dev/v1alpha1
kind: MCPServer
metadata:
  name: tickets
spec:
  image: ghcr.io/acme/tickets-mcp:1.4.0
  transport: streamable-http
  mcpPort: 8080
  env:
    - name: TICKETS_URL
      value: https://tickets.example.net
  secrets:
    - name: tickets
      key: webhook-secret
      targetEnvName: WEBHOOK_SECRET
  permissionProfile:
    type: builtin
    name: network
  groupRef:
    name: desk-tools
  externalAuthConfigRef:
    name: tickets-as-user
`,
  body: z.strictObject({ spec: MCPServerSpec.describe('What to run and how.') }),
});
