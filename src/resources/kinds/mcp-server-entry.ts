import { z } from 'zod';
import { HeaderName, HeaderValue } from '../fields/names.ts';
import { CaBundleRef, ExternalAuthConfigRef, GroupRef, SecretKeyRef } from '../fields/references.ts';
import { FORBIDDEN_HOST, matches, NUMERIC_HOST, PLAIN_IPV4, PRIVATE_HOST } from '../fields/remote-address.ts';
import { revisionField, revisionFitsTransport } from '../fields/revision.ts';
import { MAX_ITEMS } from '../fields/text.ts';
import { HttpUrl } from '../fields/urls.ts';
import { withRules } from '../traits.ts';
import { defineKind } from './kind.ts';

const SecretHeader = z.strictObject({
  headerName: HeaderName.describe('Name of the header.'),
  valueSecretRef: SecretKeyRef.describe('Its value.'),
});

const HeaderForward = z.strictObject({
  addPlaintextHeaders: z
    .record(HeaderName, HeaderValue)
    .optional()
    .describe('Headers with their values. Anybody who may read the resource sees them.'),
  addHeadersFromSecret: z.array(SecretHeader).max(MAX_ITEMS).optional().describe('Headers whose values are secrets.'),
});

export const MCPServerEntrySpec = z.strictObject({
  remoteUrl: HttpUrl.describe('MCP endpoint of the remote server.'),
  transport: z
    .enum(['streamable-http', 'sse'])
    .default('streamable-http')
    .describe('How the server speaks MCP. `sse` is the transport of 2024 and deprecated.'),
  revision: revisionField,
  groupRef: GroupRef.describe('The MCPGroup this server is a backend of.'),
  externalAuthConfigRef: ExternalAuthConfigRef.optional().describe('The credential this server gets.'),
  allowPrivateEndpoint: z
    .boolean()
    .default(false)
    .describe('The server is on this machine or in a private network, and that is meant.'),
  headerForward: HeaderForward.optional().describe('Headers that every request to the server carries.'),
  caBundleRef: CaBundleRef.optional().describe('Certificates to trust for this server.'),
});
export type MCPServerEntrySpec = z.output<typeof MCPServerEntrySpec>;

withRules(MCPServerEntrySpec, [
  revisionFitsTransport<MCPServerEntrySpec>(),
  {
    at: 'remoteUrl',
    says: 'must write an IPv4 address as four decimal numbers',
    holds: ({ remoteUrl }) => !matches(NUMERIC_HOST, remoteUrl) || matches(PLAIN_IPV4, remoteUrl),
    cel: `!self.remoteUrl.lowerAscii().matches(r'${NUMERIC_HOST}') || self.remoteUrl.lowerAscii().matches(r'${PLAIN_IPV4}')`,
  },
  {
    at: 'remoteUrl',
    says: 'must not point at link-local, metadata or cluster API addresses',
    holds: ({ remoteUrl }) => !matches(FORBIDDEN_HOST, remoteUrl),
    cel: `!self.remoteUrl.lowerAscii().matches(r'${FORBIDDEN_HOST}')`,
  },
  {
    at: 'remoteUrl',
    says: 'points at this machine or a private network; set allowPrivateEndpoint: true if that is meant',
    holds: ({ remoteUrl, allowPrivateEndpoint }) => allowPrivateEndpoint || !matches(PRIVATE_HOST, remoteUrl),
    cel: `self.allowPrivateEndpoint || !self.remoteUrl.lowerAscii().matches(r'${PRIVATE_HOST}')`,
  },
]);

export const MCPServerEntry = defineKind({
  kind: 'MCPServerEntry',
  plural: 'mcpserverentries',
  shortNames: ['mcpentry'],
  api: 'ours',
  names: 'label',
  columns: [
    { name: 'Remote URL', path: '.spec.remoteUrl' },
    { name: 'Transport', path: '.spec.transport' },
    { name: 'Group', path: '.spec.groupRef.name' },
  ],
  about: `An MCP server that runs somewhere else, as a backend of a group.

Nothing is started for it. An address on this machine or in a private network needs \`allowPrivateEndpoint: true\`;
addresses that hand out credentials of the machine (link-local, cloud metadata) are refused in any case.`,
  example: `apiVersion: sallyport.dev/v1alpha1
kind: MCPServerEntry
metadata:
  name: wiki
spec:
  remoteUrl: https://wiki.example.net/mcp
  transport: streamable-http
  groupRef:
    name: desk-tools
  headerForward:
    addPlaintextHeaders:
      X-Team: support
`,
  body: z.strictObject({ spec: MCPServerEntrySpec.describe('Where the server is.') }),
});
