import { resolve } from 'node:path';
import { given } from '../base/index.ts';
import type { RunConfig } from '../resources/index.ts';
import type { Environment } from '../workloads/index.ts';
import { clientSecretSource, readClientSecret, type SecretPlaces } from './client-secret.ts';
import type { IncomingFlags } from './incoming-flags.ts';
import { oidcReferenceOf } from './lifecycle/handed-secrets.ts';

type Oidc = NonNullable<RunConfig['oidc_config']>;

/** Where the client secret is found at each start, when neither a flag nor a file says so. */
const SECRET_VARIABLE = 'SALLYPORT_OIDC_CLIENT_SECRET';

/** What the flags say, in the form that is kept. The value of a secret is not kept; where it is found again is. */
export function oidcConfigOf(flags: IncomingFlags, env: Environment, earlier?: Oidc): Partial<Oidc> | undefined {
  const { oidcClientId: clientId, oidcClientSecretFile: file, jwksAuthTokenFile } = flags;
  const fields: Readonly<Record<string, unknown>> = {
    ...earlier,
    ...given({
      issuer: flags.oidcIssuer,
      audience: flags.oidcAudience,
      client_id: clientId,
      client_secret_ref: clientSecretSource({ clientId, file, variable: SECRET_VARIABLE }, env),
      jwks_url: flags.oidcJwksUrl,
      introspection_url: flags.oidcIntrospectionUrl,
      scopes: flags.oidcScopes,
      required_scopes: flags.oidcRequiredScopes,
      insecure_allow_http: flags.oidcInsecureAllowHttp,
      jwks_allow_private_ip: flags.jwksAllowPrivateIp,
      jwks_auth_token_file: jwksAuthTokenFile === undefined ? undefined : resolve(jwksAuthTokenFile),
      resource_url: flags.resourceUrl,
    }),
  };
  return Object.keys(fields).length === 0 ? undefined : (fields as Partial<Oidc>);
}

/** The way back. `client_secret_ref` may name the environment, a file, or a secret of the store. */
export async function incomingFlagsOf(oidc: Oidc | undefined, places: SecretPlaces): Promise<IncomingFlags> {
  if (!oidc) return {};
  const { client_secret_ref: source } = oidc;
  const secret = source === undefined ? undefined : await readClientSecret(source, oidcReferenceOf, places);
  return given({
    oidcIssuer: oidc.issuer,
    oidcAudience: oidc.audience,
    oidcClientId: oidc.client_id,
    oidcClientSecret: secret?.reveal(),
    oidcJwksUrl: oidc.jwks_url,
    oidcIntrospectionUrl: oidc.introspection_url,
    oidcScopes: oidc.scopes,
    oidcRequiredScopes: oidc.required_scopes,
    oidcInsecureAllowHttp: oidc.insecure_allow_http || undefined,
    jwksAllowPrivateIp: oidc.jwks_allow_private_ip || undefined,
    jwksAuthTokenFile: oidc.jwks_auth_token_file,
    resourceUrl: oidc.resource_url,
  });
}
