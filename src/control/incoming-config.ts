import { resolve } from 'node:path';
import { SallyError } from '../base/index.ts';
import { given } from '../plan/index.ts';
import type { RunConfig } from '../resources/index.ts';
import type { ResolveSecrets } from '../secrets/index.ts';
import type { Environment } from '../workloads/index.ts';
import type { IncomingFlags } from './incoming-flags.ts';
import { oidcReferenceOf } from './lifecycle/handed-secrets.ts';

type Oidc = NonNullable<RunConfig['oidc_config']>;

/** Where the client secret is found at each start, when neither a flag nor a file says so. */
const SECRET_VARIABLE = 'SALLYPORT_OIDC_CLIENT_SECRET';

/** What the flags say, in the form that is kept. The value of a secret is not kept; where it is found again is. */
export function oidcConfigOf(flags: IncomingFlags, env: Environment, earlier?: Oidc): Partial<Oidc> | undefined {
  const { oidcClientId, jwksAuthTokenFile } = flags;
  const fields: Readonly<Record<string, unknown>> = {
    ...earlier,
    ...given({
      issuer: flags.oidcIssuer,
      audience: flags.oidcAudience,
      client_id: oidcClientId,
      client_secret_ref: secretSourceOf(flags, env),
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

function secretSourceOf({ oidcClientId, oidcClientSecretFile }: IncomingFlags, env: Environment): string | undefined {
  if (oidcClientSecretFile !== undefined) return `file:${resolve(oidcClientSecretFile)}`;
  return oidcClientId !== undefined && env[SECRET_VARIABLE] ? `env:${SECRET_VARIABLE}` : undefined;
}

/** The way back. `client_secret_ref` may name the environment, a file, or a secret of the store. */
export async function incomingFlagsOf(
  oidc: Oidc | undefined,
  resolveSecrets: ResolveSecrets,
  env: Environment,
): Promise<IncomingFlags> {
  if (!oidc) return {};
  return given({
    oidcIssuer: oidc.issuer,
    oidcAudience: oidc.audience,
    oidcClientId: oidc.client_id,
    ...(await secretOf(oidc.client_secret_ref, resolveSecrets, env)),
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

async function secretOf(
  reference: string | undefined,
  resolveSecrets: ResolveSecrets,
  env: Environment,
): Promise<IncomingFlags> {
  if (reference === undefined) return {};
  const [kind, place = ''] = splitOnce(reference, ':');
  switch (kind) {
    case 'file':
      return { oidcClientSecretFile: place };
    case 'secret': {
      const { OIDC_CLIENT_SECRET: value } = await resolveSecrets([oidcReferenceOf(place)]);
      return value ? { oidcClientSecret: value.reveal() } : {};
    }
    default: {
      const value = env[place];
      if (value) return { oidcClientSecret: value };
      throw new SallyError('config.secret_missing', `the variable ${place} with the client secret is not set`, {
        hint: `set ${place} for this command`,
      });
    }
  }
}

function splitOnce(text: string, mark: string): readonly [string, string?] {
  const at = text.indexOf(mark);
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
