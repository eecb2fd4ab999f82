import { z } from 'zod';
import { DnsLabel, HeaderName, HeaderValue } from '../fields/names.ts';
import { CaBundleRef, SecretKeyRef } from '../fields/references.ts';
import { DotPath, MAX_ITEMS, Scopes, Text } from '../fields/text.ts';
import { IssuerUrl, SecureUrl } from '../fields/urls.ts';
import { type Rule, withRules } from '../traits.ts';
import { blockOf } from './exclusive.ts';

/** Parameters of an authorization request that are ours to set. */
const PROTOCOL_PARAMS = [
  'client_id',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'redirect_uri',
  'request',
  'request_uri',
  'response_mode',
  'response_type',
  'scope',
  'state',
];

const AuthorizationParams = z
  .record(
    Text.max(128).refine(
      (name) => !PROTOCOL_PARAMS.includes(name.toLowerCase()),
      `must not be a parameter of the protocol (${PROTOCOL_PARAMS.join(', ')})`,
    ),
    Text,
  )
  .refine((params) => Object.keys(params).length <= 16, 'must have at most 16 parameters');

const client = {
  clientId: Text.describe('Client identifier registered at the provider.'),
  clientSecretRef: SecretKeyRef.optional().describe('Client secret; without one we are a public client with PKCE.'),
  clientAuthMethod: z
    .enum(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'])
    .optional()
    .describe(
      'How we prove who we are. When not given: what the provider says it takes with a secret, `none` without one.',
    ),
  privateKeySecretRef: SecretKeyRef.optional().describe('Private key (PEM or JWK), for `private_key_jwt`.'),
  additionalAuthorizationParams: AuthorizationParams.optional().describe(
    'Further parameters of the authorization request, such as `access_type: offline` for Google.',
  ),
  allowPrivateIPs: z
    .boolean()
    .default(false)
    .describe('Allow a provider in a private network. One on this machine (localhost) needs no permission.'),
  caBundleRef: CaBundleRef.optional().describe('Certificates to trust for the provider.'),
};

interface Client {
  readonly clientSecretRef?: unknown;
  readonly clientAuthMethod?: string | undefined;
  readonly privateKeySecretRef?: unknown;
}

const clientRules: readonly Rule<Client>[] = [
  {
    at: 'clientSecretRef',
    says: 'is required with client_secret_basic and client_secret_post',
    holds: ({ clientAuthMethod: method, clientSecretRef }) =>
      !(method === 'client_secret_basic' || method === 'client_secret_post') || clientSecretRef !== undefined,
    cel: "!has(self.clientAuthMethod) || !(self.clientAuthMethod in ['client_secret_basic', 'client_secret_post']) || has(self.clientSecretRef)",
  },
  {
    at: 'clientSecretRef',
    says: 'is not used with private_key_jwt or none',
    holds: ({ clientAuthMethod: method, clientSecretRef }) =>
      !(method === 'private_key_jwt' || method === 'none') || clientSecretRef === undefined,
    cel: "!has(self.clientAuthMethod) || !(self.clientAuthMethod in ['private_key_jwt', 'none']) || !has(self.clientSecretRef)",
  },
  {
    at: 'privateKeySecretRef',
    says: 'is required with private_key_jwt, and goes with nothing else',
    holds: ({ clientAuthMethod, privateKeySecretRef }) =>
      (clientAuthMethod === 'private_key_jwt') === (privateKeySecretRef !== undefined),
    cel: "(has(self.clientAuthMethod) && self.clientAuthMethod == 'private_key_jwt') == has(self.privateKeySecretRef)",
  },
];

const FieldNames = z.array(Text.max(256)).min(1, 'must name at least one field').max(MAX_ITEMS);

const FieldMapping = z.strictObject({
  subjectFields: FieldNames.default(['sub']).describe(
    'Fields tried in turn for the subject; the first with a value wins.',
  ),
  nameFields: FieldNames.default(['name']).describe('Fields tried in turn for the display name.'),
  emailFields: FieldNames.default(['email']).describe('Fields tried in turn for the e-mail address.'),
});

const UserInfo = z.strictObject({
  endpointUrl: SecureUrl.describe('Asked with the access token of the user who logs in.'),
  httpMethod: z.enum(['GET', 'POST']).default('GET').describe('HTTP method of that request.'),
  additionalHeaders: z.record(HeaderName, HeaderValue).optional().describe('Headers that the endpoint wants besides.'),
  fieldMapping: FieldMapping.prefault({}).describe('Which fields of the answer hold what.'),
});

const TokenResponseMapping = z.strictObject({
  accessTokenPath: DotPath.describe('Path of the access token.'),
  scopePath: DotPath.optional().describe('Path of the granted scopes; `scope` when not given.'),
  refreshTokenPath: DotPath.optional().describe('Path of the refresh token; `refresh_token` when not given.'),
  expiresInPath: DotPath.optional().describe('Path of the lifetime in seconds; `expires_in` when not given.'),
});

const OAuth2Config = z.strictObject({
  authorizationEndpoint: SecureUrl.describe('Where the browser of the user is sent.'),
  tokenEndpoint: SecureUrl.describe('Where codes and refresh tokens become access tokens.'),
  ...client,
  scopes: Scopes.default([]).describe('Scopes requested from the provider.'),
  userInfo: UserInfo.optional().describe('How to learn who logged in; OAuth 2.0 alone does not say.'),
  tokenResponseMapping: TokenResponseMapping.optional().describe(
    'For providers that nest the tokens in their response instead of using the standard members.',
  ),
});

withRules(OAuth2Config, clientRules);

const OidcConfig = z.strictObject({
  issuerUrl: IssuerUrl.describe('Issuer of the provider; its endpoints are discovered from here.'),
  ...client,
  scopes: Scopes.optional().describe(
    'Scopes requested from the provider. When not given: `openid`, `profile`, `email`, and `offline_access` where the provider lists it.',
  ),
  subjectClaim: z
    .string()
    .max(128)
    .regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/, 'must be the name of a claim: letters, digits and underscores')
    .default('sub')
    .describe('Claim of the ID token that names the user, such as `oid` for Entra ID. A change makes new users.'),
});
withRules(OidcConfig, [
  ...clientRules,
  {
    at: 'scopes',
    says: 'must contain openid: without it a provider sends no ID token',
    holds: ({ scopes }) => scopes === undefined || scopes.includes('openid'),
    cel: "!has(self.scopes) || self.scopes.exists(s, s == 'openid')",
  },
]);

export const UpstreamProvider = z.strictObject({
  name: DnsLabel.describe('Name of the provider; `providerName` and `subjectProviderName` refer to it.'),
  type: z
    .enum(['oauth2', 'oidc'])
    .describe('`oidc` discovers its endpoints and gives ID tokens; `oauth2` is spelled out.'),
  oauth2Config: OAuth2Config.optional().describe('The provider, for type `oauth2`.'),
  oidcConfig: OidcConfig.optional().describe('The provider, for type `oidc`.'),
  required: z
    .boolean()
    .default(true)
    .describe('Whether every login visits it. Otherwise it is connected when a tool first needs it.'),
});
export type UpstreamProvider = z.output<typeof UpstreamProvider>;

withRules(UpstreamProvider, [
  ...blockOf<UpstreamProvider>('oauth2', 'oauth2Config'),
  ...blockOf<UpstreamProvider>('oidc', 'oidcConfig'),
]);
