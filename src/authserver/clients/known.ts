import type { ClientMetadata } from 'oidc-provider';
import { SallyError } from '../../base/index.ts';
import type { KnownClientPlan } from '../../plan/index.ts';
import { applicationTypeOf } from './metadata.ts';
import { type RedirectRules, redirectUriProblem } from './redirect-uri.ts';

/** A client that the operator configured, as the library wants it. Only such a client can have a secret. */
export function knownClient(client: KnownClientPlan, redirects: RedirectRules): ClientMetadata {
  for (const uri of client.redirectUris) {
    const problem = redirectUriProblem(uri, redirects);
    if (problem !== undefined) {
      throw new SallyError('config.invalid', `the redirect address ${uri} of client ${client.id} ${problem}`);
    }
  }
  return {
    client_id: client.id,
    client_name: client.name,
    redirect_uris: [...client.redirectUris],
    application_type: applicationTypeOf(client.redirectUris),
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
    ...(client.secret
      ? { token_endpoint_auth_method: 'client_secret_basic', client_secret: client.secret.reveal() }
      : { token_endpoint_auth_method: 'none' }),
  };
}
