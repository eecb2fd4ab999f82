import {
  type Client,
  calculatePKCECodeChallenge,
  generateRandomCodeVerifier,
  generateRandomNonce,
  validateAuthResponse,
} from 'oauth4webapi';
import { UpstreamError } from './errors.ts';
import type { Metadata } from './metadata.ts';
import type { Leg, UpstreamSettings } from './types.ts';

/** The protocol's own parameters, and those that would bring the answer to us in another way. Configuration sets neither. */
const OURS = [
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'nonce',
  'code_challenge',
  'code_challenge_method',
  'request',
  'request_uri',
];

/** Where to send a browser to log in at this provider. */
export async function authorizationRequest(
  settings: UpstreamSettings,
  { server, source }: Metadata,
  state: string,
  redirectUri: string,
): Promise<{ readonly url: URL; readonly leg: Leg }> {
  // PKCE goes to everybody: who does not know it ignores it (RFC 6749 §3.1).
  const verifier = generateRandomCodeVerifier();
  const nonce = settings.endpoints.kind === 'oidc' ? generateRandomNonce() : undefined;
  const url = new URL(server.authorization_endpoint);
  for (const [name, value] of Object.entries(settings.authorizationParams)) {
    if (!OURS.includes(name)) url.searchParams.set(name, value);
  }
  url.searchParams.set('response_type', 'code');
  url.searchParams.set('client_id', settings.clientId);
  url.searchParams.set('redirect_uri', redirectUri);
  const scopes = scopesFor(settings, server);
  if (scopes.length > 0) url.searchParams.set('scope', scopes.join(' '));
  url.searchParams.set('state', state);
  url.searchParams.set('code_challenge', await calculatePKCECodeChallenge(verifier));
  url.searchParams.set('code_challenge_method', 'S256');
  if (nonce !== undefined) url.searchParams.set('nonce', nonce);
  return { url, leg: { state, verifier, redirectUri, source, ...(nonce === undefined ? {} : { nonce }) } };
}

export function scopesFor(settings: UpstreamSettings, server: Metadata['server']): readonly string[] {
  const offered = settings.offlineIfOffered && server.scopes_supported?.includes('offline_access');
  return offered && !settings.scopes.includes('offline_access')
    ? [...settings.scopes, 'offline_access']
    : settings.scopes;
}

/** What the browser brought back, if it is an answer of this provider to this leg (RFC 9207 §2.4). */
export function checkCallback(
  settings: UpstreamSettings,
  { server }: Metadata,
  client: Client,
  callback: URLSearchParams,
  leg: Leg,
): URLSearchParams {
  if (settings.endpoints.kind === 'oidc') return validateAuthResponse(server, client, callback, leg.state);
  // Of a plain OAuth 2 provider we do not know the issuer. One of another origin is the answer of another provider.
  const { authorizationEndpoint, tokenEndpoint } = settings.endpoints;
  const origins = [authorizationEndpoint, tokenEndpoint].map((url) => new URL(url).origin);
  for (const issuer of callback.getAll('iss')) {
    if (URL.canParse(issuer) && origins.includes(new URL(issuer).origin)) continue;
    throw new UpstreamError('upstream.answer_invalid', settings.name, 'the answer came from another provider');
  }
  const parameters = new URLSearchParams(callback);
  parameters.delete('iss');
  return validateAuthResponse(server, client, parameters, leg.state);
}
