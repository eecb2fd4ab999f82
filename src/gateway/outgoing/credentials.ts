import { SallyError, type Secret } from '../../base/index.ts';
import type { Identity, User } from '../call.ts';

/** What the authorization server in this process keeps for its users, as boundary 2 needs it. */
export interface UpstreamTokens {
  /**
   * The access token that a user has at a provider, good at this moment. `refused` is one that a server did not take: there
   * is another one then, or a login is needed. There is no way to ask for a token without saying whose.
   */
  accessToken(user: User, provider: string, refused: Secret | undefined): Secret | Promise<Secret>;
}

/** Tokens of a login need a login: whoever comes without one is told which. */
export function userOf(identity: Identity, provider: string | undefined): User {
  if (identity.kind === 'user') return identity;
  throw loginNeeded(provider);
}

export function loginNeeded(provider: string | undefined): SallyError {
  const at = provider === undefined ? '' : ` at ${provider}`;
  return new SallyError('outgoing.login_needed', `a login${at} is needed for this`, {
    hint: 'log in again with your client',
    ...(provider === undefined ? {} : { data: { provider } }),
  });
}

export function bearer(token: Secret): Readonly<Record<string, string>> {
  return { authorization: `Bearer ${token.reveal()}` };
}
