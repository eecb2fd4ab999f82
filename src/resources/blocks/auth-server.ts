import { z } from 'zod';
import { parseDuration } from '../../base/index.ts';
import { Duration } from '../fields/duration.ts';
import { SecretKeyRef } from '../fields/references.ts';
import { OwnIssuerUrl, SecureUrl } from '../fields/urls.ts';
import { type Rule, withRules } from '../traits.ts';
import { Storage } from './storage.ts';
import { UpstreamProvider } from './upstream-provider.ts';

const TokenLifespans = z.strictObject({
  accessTokenLifespan: Duration.default('1h').describe('Lifetime of access tokens, from 1m to 24h.'),
  refreshTokenLifespan: Duration.default('168h').describe('Lifetime of refresh tokens, from 1h to 720h.'),
  authCodeLifespan: Duration.default('10m').describe('Lifetime of authorization codes, from 30s to 10m.'),
});
type TokenLifespans = z.output<typeof TokenLifespans>;

withRules(TokenLifespans, [
  between('accessTokenLifespan', '1m', '24h'),
  between('refreshTokenLifespan', '1h', '720h'),
  // RFC 6749 §4.1.2 recommends ten minutes at most.
  between('authCodeLifespan', '30s', '10m'),
]);

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
  storage: Storage.optional().describe('Where logins and upstream tokens are kept. In memory when not given.'),
});
export type AuthServerConfig = z.output<typeof AuthServerConfig>;

withRules(AuthServerConfig, [
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
