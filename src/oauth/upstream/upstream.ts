import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrantRequest,
  type Client,
  clockTolerance,
  customFetch,
  refreshTokenGrantRequest,
  revocationRequest,
} from 'oauth4webapi';
import type { Log, Secret } from '../../base/index.ts';
import { createFetch, type FetchRequest } from '../fetch.ts';
import { authorizationRequest, checkCallback, scopesFor } from './authorization.ts';
import { createClientAuth } from './client-auth.ts';
import { answerError, asUpstreamError, oauthCodeOf, UpstreamError } from './errors.ts';
import { checkIdToken, type IdTokenContext, identityOf, subjectOf } from './id-token.ts';
import { discoveredMetadata, knownMetadata, type Metadata } from './metadata.ts';
import { readTokenAnswer, tokensOf } from './token-answer.ts';
import type {
  Leg,
  Redeemed,
  Refreshed,
  Renewable,
  TokenSource,
  Upstream,
  UpstreamSettings,
  UpstreamTokens,
} from './types.ts';
import { readUserInfo, syntheticIdentity } from './user-info.ts';

export interface UpstreamParts {
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

const CLOCKS_DIFFER_BY = 60;

export function createUpstream(settings: UpstreamSettings, { log, now }: UpstreamParts): Upstream {
  const { name, endpoints } = settings;
  const guarded = createFetch({ range: settings.addresses, ...(settings.ca === undefined ? {} : { ca: settings.ca }) });
  const fetch = async (url: string, request: FetchRequest): Promise<Response> => {
    const response = await guarded(url, request);
    const { status } = response;
    if (status >= 500 || status === 429 || status === 408) throw answerError(name, status, undefined);
    return response;
  };
  const metadata =
    endpoints.kind === 'oidc' ? discoveredMetadata(name, endpoints, { fetch, now }) : knownMetadata(endpoints);
  const clientAuth = createClientAuth(name, settings.clientAuth);
  const client: Client = { client_id: settings.clientId, [clockTolerance]: CLOCKS_DIFFER_BY };

  if (endpoints.kind === 'oauth2' && !endpoints.userInfo) {
    log.warn('provider tells nothing about its users, each login will be another user', { provider: name });
  }

  const requestOptions = ({ insecure }: Metadata) => ({
    [customFetch]: fetch as never,
    [allowInsecureRequests]: insecure,
  });
  const idTokenContext = (at: Metadata): IdTokenContext => ({ provider: name, client, metadata: at, fetch });

  /** Row 38: what came from one place is never sent to another, even if the provider now says that it has moved there. */
  async function metadataOf(source: TokenSource): Promise<Metadata> {
    const at = await metadata.get();
    if (at.source.issuer === source.issuer && at.source.tokenEndpoint === source.tokenEndpoint) return at;
    throw new UpstreamError('upstream.moved', name, 'it is at another place than when this login began', {
      hint: 'log in again',
    });
  }

  async function redeem(callback: URLSearchParams, leg: Leg): Promise<Redeemed> {
    const at = await metadataOf(leg.source);
    const parameters = checkCallback(settings, at, client, callback, leg);
    const askedAt = now();
    const response = await authorizationCodeGrantRequest(
      at.server,
      client,
      clientAuth(at),
      parameters,
      leg.redirectUri,
      leg.verifier,
      requestOptions(at),
    );
    const answer = await readTokenAnswer(name, response);
    const scopes = scopesFor(settings, at.server);
    const paths = endpoints.kind === 'oauth2' ? endpoints.tokenResponse : undefined;
    const tokens = tokensOf(answer, { provider: name, source: at.source, paths, scopes, askedAt });
    if (endpoints.kind === 'oauth2') {
      const identity = endpoints.userInfo
        ? await readUserInfo(name, endpoints.userInfo, tokens.accessToken, fetch)
        : syntheticIdentity(tokens.accessToken);
      return { tokens, identity };
    }
    // Without a nonce the ID token would not be tied to this browser: a leg of an OpenID provider always has one.
    if (leg.nonce === undefined) throw new UpstreamError('upstream.answer_invalid', name, 'the login has no nonce');
    const checked = await checkIdToken(answer, leg.nonce, idTokenContext(at));
    const asked = { accessToken: tokens.accessToken, scopes, log };
    const identity = await identityOf(checked, endpoints, asked, idTokenContext(at));
    return { tokens: { ...tokens, idToken: checked.token }, identity };
  }

  async function refresh(renewable: Renewable): Promise<Refreshed> {
    const at = await metadataOf(renewable.source);
    const askedAt = now();
    const response = await refreshTokenGrantRequest(
      at.server,
      client,
      clientAuth(at),
      renewable.refreshToken.reveal(),
      requestOptions(at),
    );
    const answer = await readTokenAnswer(name, response);
    const paths = endpoints.kind === 'oauth2' ? endpoints.tokenResponse : undefined;
    const context = { provider: name, source: at.source, paths, scopes: renewable.scopes, askedAt, flatToo: true };
    const tokens: UpstreamTokens = tokensOf(answer, context);
    if (endpoints.kind === 'oauth2' || answer.id_token === undefined) return { tokens };
    const check = async (): Promise<Secret> => {
      const checked = await checkIdToken(answer, undefined, idTokenContext(at));
      if (subjectOf(name, checked, endpoints) === renewable.subject) return checked.token;
      throw new UpstreamError('upstream.answer_invalid', name, 'its new ID token is about another user');
    };
    return { tokens, check: () => explained(check) };
  }

  async function revoke(token: Secret, source: TokenSource): Promise<boolean> {
    const at = await metadataOf(source);
    if (at.server.revocation_endpoint === undefined) return false;
    const response = await revocationRequest(at.server, client, clientAuth(at), token.reveal(), requestOptions(at));
    if (response.status !== 200) throw answerError(name, response.status, undefined);
    return true;
  }

  return {
    name,
    begin: (state, redirectUri) =>
      explained(async () => authorizationRequest(settings, await metadata.get(), state, redirectUri)),
    redeem: (callback, leg) => explained(() => redeem(callback, leg)),
    refresh: (renewable) => explained(() => refresh(renewable)),
    issued: ({ issuer, tokenEndpoint }) =>
      endpoints.kind === 'oidc'
        ? issuer === endpoints.issuer
        : issuer === undefined && tokenEndpoint === endpoints.tokenEndpoint,
    revoke: (token, source) => explained(() => revoke(token, source)),
    status: () => ({ name, ...metadata.status() }),
    close: () => guarded.close(),
  };

  async function explained<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof AuthorizationResponseError) {
        throw answerError(name, 400, oauthCodeOf(error.error) ?? 'unknown');
      }
      throw asUpstreamError(name, error);
    }
  }
}
