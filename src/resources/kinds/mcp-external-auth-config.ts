import { z } from 'zod';
import { AuthServerConfig } from '../blocks/auth-server.ts';
import { blockOf } from '../blocks/exclusive.ts';
import { DnsLabel, ForwardedHeaderName } from '../fields/names.ts';
import { SecretKeyRef } from '../fields/references.ts';
import { Scopes, Text } from '../fields/text.ts';
import { SecureUrl } from '../fields/urls.ts';
import { withRules } from '../traits.ts';
import { defineKind } from './kind.ts';

const UpstreamInject = z.strictObject({
  providerName: DnsLabel.describe('Name of an upstream provider of the VirtualMCPServer.'),
});

const TokenExchange = z.strictObject({
  tokenUrl: SecureUrl.describe('Token endpoint that does the exchange (RFC 8693).'),
  clientId: Text.optional().describe('Client identifier at that endpoint.'),
  clientSecretRef: SecretKeyRef.optional().describe('Client secret at that endpoint.'),
  audience: Text.optional().describe('Audience the new token is asked for.'),
  scopes: Scopes.default([]).describe('Scopes the new token is asked for.'),
  subjectProviderName: DnsLabel.optional().describe(
    'Upstream provider whose stored token is exchanged. Without it, the token the caller came with.',
  ),
  subjectTokenType: z
    .enum(['access_token', 'id_token', 'jwt'])
    .default('access_token')
    .describe('What we say the exchanged token is.'),
  externalTokenHeaderName: ForwardedHeaderName.optional().describe(
    'Header that carries the new token, as `Bearer TOKEN`. `Authorization` when not given.',
  ),
  clientAuthMethod: z
    .enum(['client_secret_basic', 'client_secret_post'])
    .default('client_secret_basic')
    .describe('How the client secret is sent.'),
  allowPrivateIPs: z
    .boolean()
    .default(false)
    .describe('Allow an endpoint in a private network. One on this machine (localhost) needs no permission.'),
});
withRules(TokenExchange, [
  {
    at: 'clientId',
    says: 'is required together with clientSecretRef',
    holds: (exchange) => exchange.clientSecretRef === undefined || exchange.clientId !== undefined,
    cel: '!has(self.clientSecretRef) || has(self.clientId)',
  },
]);

const HeaderInjection = z.strictObject({
  headerName: ForwardedHeaderName.describe('Header that carries the value.'),
  valueSecretRef: SecretKeyRef.describe('The value, the same for all users.'),
});

const BearerToken = z.strictObject({
  tokenSecretRef: SecretKeyRef.describe('The token, the same for all users.'),
});

export const MCPExternalAuthConfigSpec = z.strictObject({
  type: z
    .enum([
      'unauthenticated',
      'upstreamInject',
      'tokenExchange',
      'headerInjection',
      'bearerToken',
      'embeddedAuthServer',
    ])
    .describe('What the backend is shown; the block of the same name says the rest.'),
  upstreamInject: UpstreamInject.optional().describe("The user's own access token at an upstream provider."),
  tokenExchange: TokenExchange.optional().describe('A token made for this backend, in exchange for one of the user.'),
  headerInjection: HeaderInjection.optional().describe('A fixed header, such as an API key.'),
  bearerToken: BearerToken.optional().describe('A fixed bearer token.'),
  embeddedAuthServer: AuthServerConfig.optional().describe(
    'An authorization server at the port of one MCPServer, with one provider. The server gets the token that users have there.',
  ),
});
export type MCPExternalAuthConfigSpec = z.output<typeof MCPExternalAuthConfigSpec>;

withRules(MCPExternalAuthConfigSpec, [
  ...blockOf<MCPExternalAuthConfigSpec>('upstreamInject', 'upstreamInject'),
  ...blockOf<MCPExternalAuthConfigSpec>('tokenExchange', 'tokenExchange'),
  ...blockOf<MCPExternalAuthConfigSpec>('headerInjection', 'headerInjection'),
  ...blockOf<MCPExternalAuthConfigSpec>('bearerToken', 'bearerToken'),
  ...blockOf<MCPExternalAuthConfigSpec>('embeddedAuthServer', 'embeddedAuthServer'),
  {
    at: 'embeddedAuthServer.upstreamProviders',
    says: 'must name one provider only, since the server gets the token of that one; for several write authServerConfig of a VirtualMCPServer',
    holds: ({ embeddedAuthServer }) => (embeddedAuthServer?.upstreamProviders.length ?? 1) === 1,
    cel: '!has(self.embeddedAuthServer) || self.embeddedAuthServer.upstreamProviders.size() == 1',
  },
]);

export const MCPExternalAuthConfig = defineKind({
  kind: 'MCPExternalAuthConfig',
  plural: 'mcpexternalauthconfigs',
  shortNames: ['extauth', 'mcpextauth'],
  api: 'ours',
  names: 'domain',
  columns: [{ name: 'Type', path: '.spec.type' }],
  about: `The credential that a backend gets.

\`upstreamInject\` and \`tokenExchange\` act for the user who calls; \`headerInjection\` and \`bearerToken\` show every backend
request the same secret. \`upstreamInject\`, and \`tokenExchange\` with \`subjectProviderName\`, draw on tokens from the user's
login: every VirtualMCPServer that serves the backend needs an \`authServerConfig\` with a provider of that name.

\`embeddedAuthServer\` is a login in front of one MCPServer with a \`proxyPort\`: the same fields as \`authServerConfig\`, with
one provider.`,
  example: `apiVersion: sallyport.dev/v1alpha1
kind: MCPExternalAuthConfig
metadata:
  name: tickets-as-user
spec:
  type: tokenExchange
  tokenExchange:
    tokenUrl: https://login.example.net/oauth2/token
    clientId: desk
    clientSecretRef:
      name: corp-client
      key: secret
    audience: tickets
    scopes: [tickets.read]
    subjectProviderName: corp
`,
  body: z.strictObject({ spec: MCPExternalAuthConfigSpec.describe('The credential.') }),
});
