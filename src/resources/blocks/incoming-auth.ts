import { z } from 'zod';
import { DnsSubdomain } from '../fields/names.ts';
import { Scopes, Text } from '../fields/text.ts';
import { HttpUrl, IssuerUrl, SecureUrl } from '../fields/urls.ts';
import { refersTo, withRules } from '../traits.ts';
import { onlyFor, requiredFor } from './exclusive.ts';
import { issuerFields, issuerRules } from './issuer-access.ts';

/** The audience that service account tokens must carry when a manifest names none. */
export const DEFAULT_KUBERNETES_AUDIENCE = 'sallyport';

const advertised = {
  scopes: Scopes.default(['openid']).describe('Scopes advertised in the protected resource metadata (RFC 9728).'),
  requiredScopes: Scopes.default([]).describe('Scopes that every token must have. None when empty.'),
};

const InlineOidc = withRules(
  z.strictObject({
    ...issuerFields,
    audience: Text.describe('Tokens must be meant for this audience.'),
    ...advertised,
  }),
  issuerRules,
);

const KubernetesOidc = z.strictObject({
  audience: Text.default(DEFAULT_KUBERNETES_AUDIENCE).describe('Audience that service account tokens must carry.'),
  issuer: IssuerUrl.optional().describe('Issuer of the tokens. Detected, else `https://kubernetes.default.svc`.'),
  jwksUrl: SecureUrl.optional().describe('Where the signing keys are. The API server serves them when not given.'),
  introspectionUrl: SecureUrl.optional().describe('Where opaque tokens are checked.'),
  useClusterAuth: z
    .boolean()
    .default(true)
    .describe('Ask the API server with the certificates and the token of our own pod, at its private address.'),
});

const OidcConfig = z.strictObject({
  type: z
    .enum(['inline', 'kubernetes'])
    .describe('`inline`: an identity provider named here; `kubernetes`: service account tokens of the cluster.'),
  inline: InlineOidc.optional().describe('The identity provider, for type `inline`.'),
  kubernetes: KubernetesOidc.optional().describe('Service account tokens, for type `kubernetes`.'),
  resourceUrl: HttpUrl.optional().describe(
    'Public URL of this server for the protected resource metadata. The audience when that is a URL, else as called.',
  ),
});
withRules(OidcConfig, [
  requiredFor('inline', 'inline'),
  onlyFor('inline', 'inline'),
  onlyFor('kubernetes', 'kubernetes'),
]);

export const OidcConfigRef = refersTo(
  'MCPOIDCConfig',
  z.strictObject({
    name: DnsSubdomain.describe('Name of the MCPOIDCConfig, in the same namespace.'),
    audience: Text.optional().describe('Tokens must be meant for this audience. The same field as `audience` beside.'),
    ...advertised,
    resourceUrl: HttpUrl.optional().describe(
      'Public URL of this server for the protected resource metadata; with an embedded authorization server the same as the audience.',
    ),
  }),
);

export const IncomingAuth = z.strictObject({
  type: z
    .enum(['anonymous', 'oidc'])
    .describe('`oidc` asks every caller for a token. `anonymous` asks nobody and is for development only.'),
  oidcConfig: OidcConfig.optional().describe('Token validation, written here.'),
  oidcConfigRef: OidcConfigRef.optional().describe(
    'Token validation, from an MCPOIDCConfig; the form to use with an embedded authorization server.',
  ),
  audience: HttpUrl.optional().describe('Audience that goes with `oidcConfigRef`.'),
});
export type IncomingAuth = z.output<typeof IncomingAuth>;

/** The audience may stand beside the reference or inside it; a rule keeps the two from differing. */
export function audienceOf(auth: IncomingAuth): string | undefined {
  return auth.oidcConfigRef?.audience ?? auth.audience;
}

withRules(IncomingAuth, [
  onlyFor('oidc', 'oidcConfig'),
  onlyFor('oidc', 'oidcConfigRef'),
  {
    at: 'oidcConfig',
    says: 'is required when type is oidc, unless there is an oidcConfigRef',
    holds: (auth) => auth.type !== 'oidc' || auth.oidcConfig !== undefined || auth.oidcConfigRef !== undefined,
    cel: "self.type != 'oidc' || has(self.oidcConfig) || has(self.oidcConfigRef)",
  },
  {
    at: 'oidcConfig',
    says: 'is not allowed beside oidcConfigRef: say it in one place',
    holds: (auth) => auth.oidcConfig === undefined || auth.oidcConfigRef === undefined,
    cel: '!has(self.oidcConfig) || !has(self.oidcConfigRef)',
  },
  {
    at: 'audience',
    says: 'goes with oidcConfigRef only; an inline provider has oidcConfig.inline.audience',
    holds: (auth) => auth.audience === undefined || auth.oidcConfigRef !== undefined,
    cel: '!has(self.audience) || has(self.oidcConfigRef)',
  },
  {
    at: 'audience',
    says: 'is required with oidcConfigRef, beside it or inside it',
    holds: (auth) => auth.oidcConfigRef === undefined || audienceOf(auth) !== undefined,
    cel: '!has(self.oidcConfigRef) || has(self.audience) || has(self.oidcConfigRef.audience)',
  },
  {
    at: 'audience',
    says: 'must equal oidcConfigRef.audience: the two are one field',
    holds: (auth) =>
      auth.audience === undefined ||
      auth.oidcConfigRef?.audience === undefined ||
      auth.audience === auth.oidcConfigRef.audience,
    cel: '!has(self.audience) || !has(self.oidcConfigRef) || !has(self.oidcConfigRef.audience) || self.audience == self.oidcConfigRef.audience',
  },
]);
