import { z } from 'zod';
import { DnsSubdomain } from '../fields/names.ts';
import { SecretKeyRef } from '../fields/references.ts';
import { Scopes, Text } from '../fields/text.ts';
import { HttpUrl, IssuerUrl } from '../fields/urls.ts';
import { refersTo, withRules } from '../traits.ts';
import { onlyFor, requiredFor } from './exclusive.ts';

/** The audience that service account tokens must carry when a manifest names none. */
export const DEFAULT_KUBERNETES_AUDIENCE = 'sallyport';

const InlineOidc = z.strictObject({
  issuer: IssuerUrl.describe('Issuer of the tokens; must equal their `iss` claim to the letter.'),
  audience: Text.describe('Tokens must be meant for this audience.'),
  clientId: Text.optional().describe('Client identifier at the issuer; the name we use at its introspection endpoint.'),
  clientSecretRef: SecretKeyRef.optional().describe(
    'Client secret; with it opaque tokens are checked by introspection.',
  ),
});
withRules(InlineOidc, [
  {
    at: 'clientId',
    says: 'is required together with clientSecretRef',
    holds: (oidc) => oidc.clientSecretRef === undefined || oidc.clientId !== undefined,
    cel: '!has(self.clientSecretRef) || has(self.clientId)',
  },
]);

const KubernetesOidc = z.strictObject({
  audience: Text.default(DEFAULT_KUBERNETES_AUDIENCE).describe('Audience that service account tokens must carry.'),
});

const OidcConfig = z.strictObject({
  type: z
    .enum(['inline', 'kubernetes'])
    .describe('`inline`: an identity provider named here; `kubernetes`: service account tokens of the cluster.'),
  inline: InlineOidc.optional().describe('The identity provider, for type `inline`.'),
  kubernetes: KubernetesOidc.optional().describe(
    'Service account tokens, for type `kubernetes`. The issuer is detected, else `https://kubernetes.default.svc`.',
  ),
});
withRules(OidcConfig, [
  requiredFor('inline', 'inline'),
  onlyFor('inline', 'inline'),
  onlyFor('kubernetes', 'kubernetes'),
]);

const OidcConfigRef = refersTo(
  'MCPOIDCConfig',
  z.strictObject({
    name: DnsSubdomain.describe('Name of the MCPOIDCConfig, in the same namespace.'),
    audience: Text.optional().describe('Tokens must be meant for this audience. The same field as `audience` beside.'),
    scopes: Scopes.default(['openid']).describe('Scopes advertised in the protected resource metadata (RFC 9728).'),
    resourceUrl: HttpUrl.optional().describe(
      'Public URL of this server for the protected resource metadata; equal to the audience when given.',
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
  {
    // Tokens are issued for the resource a client asked for (RFC 8707), so these two can only be one URL.
    at: 'oidcConfigRef.resourceUrl',
    says: 'must equal the audience',
    holds: (auth) =>
      auth.oidcConfigRef?.resourceUrl === undefined ||
      audienceOf(auth) === undefined ||
      auth.oidcConfigRef.resourceUrl === audienceOf(auth),
    cel: '!has(self.oidcConfigRef) || !has(self.oidcConfigRef.resourceUrl) || (has(self.oidcConfigRef.audience) ? self.oidcConfigRef.resourceUrl == self.oidcConfigRef.audience : (!has(self.audience) || self.oidcConfigRef.resourceUrl == self.audience))',
  },
]);
