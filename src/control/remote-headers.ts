import { SallyError, Secret } from '../base/index.ts';
import type { RunConfig } from '../resources/index.ts';
import type { ResolveSecrets } from '../secrets/index.ts';
import type { Environment } from '../workloads/index.ts';
import { bearerToken, headerValue, readBearerFile } from './header-values.ts';
import { BEARER_TOKEN, bearerReferenceOf, headerReferencesOf } from './lifecycle/handed-secrets.ts';

interface Parts {
  readonly resolveSecrets: ResolveSecrets;
  readonly env: Environment;
}

/** Every header that a remote server gets with each request, read anew at each start. */
export async function remoteHeadersOf(config: RunConfig, parts: Parts): Promise<Record<string, string | Secret>> {
  const { header_forward, remote_auth_config } = config;
  const references = headerReferencesOf(config);
  const secret = references.length === 0 ? {} : await parts.resolveSecrets(references);
  const headers: Record<string, string | Secret> = {};
  for (const [header, value] of Object.entries(header_forward?.add_plaintext_headers ?? {}))
    headers[header.toLowerCase()] = value;
  for (const [header, value] of Object.entries(secret))
    headers[header.toLowerCase()] = new Secret(headerValue(header, value.reveal()));
  if (remote_auth_config) headers.authorization = await bearerOf(remote_auth_config.bearer_token_ref, parts);
  return headers;
}

async function bearerOf(reference: string, parts: Parts): Promise<Secret> {
  const token = await tokenOf(reference, parts);
  return new Secret(`Bearer ${bearerToken(token.reveal())}`);
}

async function tokenOf(reference: string, { resolveSecrets, env }: Parts): Promise<Secret> {
  const place = reference.slice(reference.indexOf(':') + 1);
  if (reference.startsWith('file:')) return readBearerFile(place);
  const found = reference.startsWith('secret:')
    ? (await resolveSecrets([bearerReferenceOf(place)]))[BEARER_TOKEN]
    : env[place] && new Secret(env[place]);
  if (found) return found;
  throw new SallyError('config.secret_missing', `${place}, which should hold the bearer token, is not set`, {
    hint: `set ${place} for this command`,
  });
}
