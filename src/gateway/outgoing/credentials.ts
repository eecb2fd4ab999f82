import { SallyError, type Secret } from '../../base/index.ts';
import type { Identity, User } from '../call.ts';

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
