import { SallyError } from '../../base/index.ts';
import type { UpstreamError } from '../../oauth/upstream/index.ts';

/** Codes that say something about our client, not about the login of the user: somebody mends it, and the login goes on. */
const ABOUT_US = [
  'invalid_client',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
  'invalid_request',
  // GitHub and Slack have words of their own.
  'incorrect_client_credentials',
  'bad_client_secret',
  'invalid_client_id',
  'unknown',
];

/** Whether a provider refuses us, whoever the user is. */
export function isAboutUs({ code, oauthCode }: UpstreamError): boolean {
  return code === 'upstream.refused' && oauthCode !== undefined && ABOUT_US.includes(oauthCode);
}

/** Whether a refresh token is worth nothing any more. Where that is not certain it is kept: one bad day must not log everybody out. */
export function isFinal(error: UpstreamError): boolean {
  if (error.code === 'upstream.moved') return true;
  return error.code === 'upstream.refused' && error.oauthCode !== undefined && !ABOUT_US.includes(error.oauthCode);
}

export function loginNeeded(provider: string): SallyError {
  return new SallyError('outgoing.login_needed', `a login at ${provider} is needed for this`, {
    hint: 'log in again with your client',
    data: { provider },
  });
}

export function unavailable(provider: string, cause: unknown): SallyError {
  return new SallyError('outgoing.unavailable', `${provider} cannot renew a token right now`, {
    cause,
    hint: 'try again in a moment',
    data: { provider },
  });
}
