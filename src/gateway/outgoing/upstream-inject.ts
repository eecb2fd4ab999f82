import { Secret } from '../../base/index.ts';
import type { Credential, UpstreamTokens } from '../call.ts';
import { bearer, userOf } from './credentials.ts';

/** The access token that the user has at one of the providers he logged in to. */
export function upstreamInject(provider: string, tokens: () => UpstreamTokens): Credential {
  return {
    headers(identity) {
      const token = tokens().accessToken(userOf(identity, provider), provider, undefined);
      return token instanceof Promise ? token.then(bearer) : bearer(token);
    },
    async renew(identity, refused) {
      const sent = new Secret((refused.authorization ?? '').slice('Bearer '.length));
      const token = await tokens().accessToken(userOf(identity, provider), provider, sent);
      return token.reveal() === sent.reveal() ? undefined : bearer(token);
    },
  };
}
