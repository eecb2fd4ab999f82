import {
  allowInsecureRequests,
  type Client,
  customFetch,
  getValidatedIdTokenClaims,
  type IDToken,
  processAuthorizationCodeResponse,
  processRefreshTokenResponse,
  processUserInfoResponse,
  userInfoRequest,
  validateApplicationLevelSignature,
} from 'oauth4webapi';
import { type Log, Secret } from '../../base/index.ts';
import { UpstreamError } from './errors.ts';
import { userOf } from './identity.ts';
import { type ProviderObject, textAt } from './json.ts';
import type { Metadata, MetadataParts } from './metadata.ts';
import type { OidcEndpoints, UpstreamIdentity } from './types.ts';

export interface IdTokenContext {
  readonly provider: string;
  readonly client: Client;
  readonly metadata: Metadata;
  readonly fetch: MetadataParts['fetch'];
}

export interface CheckedIdToken {
  readonly token: Secret;
  readonly claims: IDToken;
}

/**
 * Checks the ID token of an answer: signature with the provider's keys, issuer, audience, authorized party, times, and the nonce
 * of this login. An ID token of a refresh has no nonce to compare (OpenID Connect Core §12.2).
 */
export async function checkIdToken(
  answer: ProviderObject,
  nonce: string | undefined,
  { provider, client, metadata, fetch }: IdTokenContext,
): Promise<CheckedIdToken> {
  const token = textAt(answer, 'id_token');
  if (token === undefined) {
    throw new UpstreamError('upstream.answer_invalid', provider, 'its token answer has no ID token', {
      hint: 'a provider that is not an OpenID provider is declared with type: oauth2',
    });
  }
  const { server, insecure } = metadata;
  // The library reads an answer whole. This one has the ID token alone: what else the real one had is read by tokensOf.
  const response = Response.json({ access_token: 'not needed', token_type: 'bearer', id_token: token });
  const result =
    nonce === undefined
      ? await processRefreshTokenResponse(server, client, response)
      : await processAuthorizationCodeResponse(server, client, response, {
          expectedNonce: nonce,
          requireIdToken: true,
        });
  await validateApplicationLevelSignature(server, response, {
    [customFetch]: fetch,
    [allowInsecureRequests]: insecure,
  });
  const claims = getValidatedIdTokenClaims(result);
  if (!claims) throw new UpstreamError('upstream.answer_invalid', provider, 'its ID token has no claims');
  return { token: new Secret(token), claims };
}

/** The claim that names the user, by the configuration. There is no second choice: another claim could be another user. */
export function subjectOf(provider: string, { claims }: CheckedIdToken, { subjectClaim }: OidcEndpoints): string {
  const subject = Object.hasOwn(claims, subjectClaim) ? claims[subjectClaim] : undefined;
  return userOf(provider, { subject }).subject;
}

/**
 * The user of an ID token. Many providers tell name and address at their userinfo endpoint only: it is asked when the scopes
 * make it worth while and the ID token lacks them. They are for showing, so a failure there does not end the login.
 */
export async function identityOf(
  checked: CheckedIdToken,
  endpoints: OidcEndpoints,
  asked: { readonly accessToken: Secret; readonly scopes: readonly string[]; readonly log: Log },
  context: IdTokenContext,
): Promise<UpstreamIdentity> {
  const subject = subjectOf(context.provider, checked, endpoints);
  const { claims } = checked;
  const lacks = (scope: string, claim: string): boolean => asked.scopes.includes(scope) && claims[claim] === undefined;
  const more = lacks('profile', 'name') || lacks('email', 'email') ? await userInfo(checked, asked, context) : {};
  const told: Readonly<Record<string, unknown>> = { ...more, ...claims };
  return userOf(context.provider, {
    subject,
    name: told.name,
    email: told.email_verified === false ? undefined : told.email,
  });
}

async function userInfo(
  { claims }: CheckedIdToken,
  { accessToken, log }: { readonly accessToken: Secret; readonly log: Log },
  { provider, client, metadata, fetch }: IdTokenContext,
): Promise<object> {
  const { server, insecure } = metadata;
  if (server.userinfo_endpoint === undefined) return {};
  try {
    const response = await userInfoRequest(server, client, accessToken.reveal(), {
      [customFetch]: fetch,
      [allowInsecureRequests]: insecure,
    });
    // An answer about somebody else is not used (OpenID Connect Core §5.3.2).
    return await processUserInfoResponse(server, client, claims.sub, response);
  } catch (error) {
    log.debug('provider did not tell more about a user', { provider, reason: (error as Error).message });
    return {};
  }
}
