import { errors, type Provider, type ResourceServerInstance } from 'oidc-provider';

export const TOKEN_EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';
/** Seconds. */
const LIFETIME = 300;

interface Params {
  readonly subject_token?: string;
  readonly subject_token_type?: string;
  readonly audience?: string;
}

/** RFC 8693: an access token that a user has here becomes one for a single audience, which can check it by itself (RFC 9068). */
export function offerTokenExchange(provider: Provider): void {
  provider.registerGrantType<Params>(
    TOKEN_EXCHANGE,
    async (context) => {
      const { client, params } = context.oidc;
      const { subject_token: shown = '', subject_token_type: type, audience } = params;
      if (type !== ACCESS_TOKEN) throw new errors.InvalidRequest(`subject_token_type must be ${ACCESS_TOKEN}`);
      if (!audience) throw new errors.InvalidRequest('audience is missing: a token for everybody is not given out');
      const subject = await provider.AccessToken.find(shown);
      // Somebody else's token is no reason to give this client one.
      if (!subject?.isValid || subject.clientId !== client.clientId || subject.grantId === undefined)
        throw new errors.InvalidGrant('subject_token is not one that this client was given, or it is over');

      const { accountId, grantId } = subject;
      const resourceServer = resourceServerOf(audience);
      const token = new provider.AccessToken({ client, accountId, grantId, gty: TOKEN_EXCHANGE, resourceServer });
      context.body = {
        access_token: await token.save(),
        issued_token_type: ACCESS_TOKEN,
        token_type: 'Bearer',
        expires_in: token.expiration,
      };
    },
    ['subject_token', 'subject_token_type', 'audience'],
  );
}

function resourceServerOf(audience: string): ResourceServerInstance {
  return {
    scope: '',
    scopes: new Set(),
    identifier: () => audience,
    accessTokenFormat: 'jwt',
    accessTokenTTL: LIFETIME,
  };
}
