import { z } from 'zod';
import { parseDuration } from '../../base/index.ts';
import { Duration } from '../fields/duration.ts';
import { SecretKeyRef } from '../fields/references.ts';
import { MAX_ITEMS, Text } from '../fields/text.ts';
import { HttpUrl, OwnIssuerUrl, SecureUrl } from '../fields/urls.ts';
import { type Rule, withRules } from '../traits.ts';
import { Storage } from './storage.ts';
import { UpstreamProvider } from './upstream-provider.ts';

const TokenLifespans = z.strictObject({
  accessTokenLifespan: Duration.default('1h').describe('Lifetime of access tokens, from 1m to 24h.'),
  refreshTokenLifespan: Duration.default('168h').describe('Lifetime of refresh tokens, from 1h to 720h.'),
  authCodeLifespan: Duration.default('10m').describe('Lifetime of authorization codes, from 30s to 10m.'),
  loginLifespan: Duration.default('720h').describe(
    'How long one login lasts at most, however often it is refreshed, from 1h to 8760h.',
  ),
});
type TokenLifespans = z.output<typeof TokenLifespans>;

withRules(TokenLifespans, [
  between('accessTokenLifespan', '1m', '24h'),
  between('refreshTokenLifespan', '1h', '720h'),
  // RFC 6749 §4.1.2 recommends ten minutes at most.
  between('authCodeLifespan', '30s', '10m'),
  between('loginLifespan', '1h', '8760h'),
]);

const Registration = z.strictObject({
  dynamic: z.boolean().default(true).describe('Clients may register themselves (RFC 7591).'),
  metadataDocuments: z
    .boolean()
    .default(true)
    .describe('Clients may be named by the URL of their metadata document (CIMD).'),
  allowedHosts: z
    .array(Text.max(253))
    .max(MAX_ITEMS)
    .default([])
    .describe('Hosts whose metadata documents are fetched; all public ones when empty.'),
  redirectSchemes: z
    .array(
      z
        .string()
        .max(128)
        .regex(
          /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+$/,
          'must be a private-use scheme with a dot in it, as in `com.example.app`',
        ),
    )
    .max(MAX_ITEMS)
    .default([])
    .describe('Private-use schemes of native apps that may be redirected to, besides those we know.'),
});

const KnownClient = z.strictObject({
  clientId: Text.max(256).describe('The name the client comes with.'),
  name: Text.max(256).optional().describe('What people know it as; the client identifier when not given.'),
  redirectUris: z
    .array(HttpUrl)
    .min(1, 'must name at least one address')
    .max(10)
    .describe('Where users are sent back to. Loopback addresses match on any port.'),
  clientSecretRef: SecretKeyRef.optional().describe('Its secret; without one it is a public client with PKCE.'),
});

export const AuthServerConfig = z.strictObject({
  issuer: OwnIssuerUrl.describe('Issuer of the embedded server. All its endpoints derive from it.'),
  authorizationEndpointBaseUrl: SecureUrl.optional().describe(
    'Replaces the base of `authorization_endpoint` in the discovery document, and of nothing else.',
  ),
  signingKeySecretRefs: z
    .array(SecretKeyRef)
    .min(1, 'must name at least one key')
    .max(5)
    .optional()
    .describe('Private signing keys. The first signs, the others still verify. Ephemeral when not given.'),
  hmacSecretRefs: z
    .array(SecretKeyRef)
    .min(1, 'must name at least one secret')
    .max(5)
    .optional()
    .describe(
      'Secrets for codes and refresh tokens. The first writes, the others still read. Ephemeral when not given.',
    ),
  tokenLifespans: TokenLifespans.prefault({}).describe('How long what we issue is good for.'),
  upstreamProviders: z
    .array(UpstreamProvider)
    .min(1, 'must name at least one provider')
    .max(16)
    .describe('Identity providers. A login goes through all of them, in this order.'),
  consent: z
    .enum(['always', 'remember', 'skip'])
    .default('remember')
    .describe(
      'Whether users are asked before a client gets a token: each time, once for each client in a browser, or never (development only).',
    ),
  registration: Registration.prefault({}).describe('How clients become known.'),
  clients: z
    .array(KnownClient)
    .max(MAX_ITEMS)
    .default([])
    .describe('Clients agreed on beforehand. Users are not asked whether they trust them.'),
  storage: Storage.optional().describe('Where logins and upstream tokens are kept. In memory when not given.'),
});
export type AuthServerConfig = z.output<typeof AuthServerConfig>;

withRules(AuthServerConfig, [
  // Rows that outlive the process are worth nothing without the keys that find, open and verify them.
  neededForRedis('hmacSecretRefs'),
  neededForRedis('signingKeySecretRefs'),
  {
    at: 'upstreamProviders',
    says: 'must start with a required provider: the first one says who the user is',
    holds: ({ upstreamProviders }) => upstreamProviders[0]?.required !== false,
    cel: 'self.upstreamProviders[0].required',
  },
  {
    at: 'upstreamProviders',
    says: 'must have unique names: stored tokens are found by them',
    holds: ({ upstreamProviders }) =>
      upstreamProviders.every(({ name }) => upstreamProviders.filter((other) => other.name === name).length === 1),
    cel: 'self.upstreamProviders.all(p, self.upstreamProviders.filter(o, o.name == p.name).size() == 1)',
  },
]);

function between(field: keyof TokenLifespans, least: string, most: string): Rule<TokenLifespans> {
  const ms = (text: string): number => parseDuration(text) ?? Number.NaN;
  return {
    at: field,
    says: `must be from ${least} to ${most}`,
    holds: (lifespans) => ms(lifespans[field]) >= ms(least) && ms(lifespans[field]) <= ms(most),
    cel: `duration(self.${field}) >= duration('${least}') && duration(self.${field}) <= duration('${most}')`,
  };
}

function neededForRedis(field: 'hmacSecretRefs' | 'signingKeySecretRefs'): Rule<AuthServerConfig> {
  return {
    at: field,
    says: 'is required with storage of type redis: keys that end with the process could not read what it kept',
    holds: (config) => config.storage?.type !== 'redis' || config[field] !== undefined,
    cel: `!has(self.storage) || self.storage.type != 'redis' || has(self.${field})`,
  };
}
