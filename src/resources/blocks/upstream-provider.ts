import { z } from 'zod';
import { DnsLabel, HeaderName, HeaderValue } from '../fields/names.ts';
import { SecretKeyRef } from '../fields/references.ts';
import { DotPath, MAX_ITEMS, Scopes, Text } from '../fields/text.ts';
import { IssuerUrl, SecureUrl } from '../fields/urls.ts';
import { withRules } from '../traits.ts';
import { blockOf } from './exclusive.ts';

const client = {
  clientId: Text.describe('Client identifier registered at the provider.'),
  clientSecretRef: SecretKeyRef.optional().describe('Client secret; without one we are a public client with PKCE.'),
};

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

const OidcConfig = z.strictObject({
  issuerUrl: IssuerUrl.describe('Issuer of the provider; its endpoints are discovered from here.'),
  ...client,
  scopes: Scopes.default(['openid', 'profile', 'email']).describe('Scopes requested from the provider.'),
});

export const UpstreamProvider = z.strictObject({
  name: DnsLabel.describe('Name of the provider; `providerName` and `subjectProviderName` refer to it.'),
  type: z
    .enum(['oauth2', 'oidc'])
    .describe('`oidc` discovers its endpoints and gives ID tokens; `oauth2` is spelled out.'),
  oauth2Config: OAuth2Config.optional().describe('The provider, for type `oauth2`.'),
  oidcConfig: OidcConfig.optional().describe('The provider, for type `oidc`.'),
});
export type UpstreamProvider = z.output<typeof UpstreamProvider>;

withRules(UpstreamProvider, [
  ...blockOf<UpstreamProvider>('oauth2', 'oauth2Config'),
  ...blockOf<UpstreamProvider>('oidc', 'oidcConfig'),
]);
