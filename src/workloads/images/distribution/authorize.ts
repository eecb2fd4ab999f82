import type { HttpAnswer, HttpRequest } from '../../../base/http/index.ts';
import { SallyError } from '../../../base/index.ts';
import type { RegistryCredential } from '../credentials.ts';
import { fieldsOf, parseJson } from './read-manifest.ts';

/** One request; the caller chose the guard that it goes through. */
export type Ask = (url: URL, request: HttpRequest) => Promise<HttpAnswer>;

export interface Challenged {
  /** The registry that asked who we are. */
  readonly registry: URL;
  readonly challenge: string;
  readonly credential: RegistryCredential | undefined;
  /** What we want to do, where the registry does not say it itself. */
  readonly scope: string;
}

/** The `Authorization` that a registry wants to see, as its challenge asks for it (distribution specification, token authentication). */
export async function authorize({ registry, challenge, credential, scope }: Challenged, ask: Ask): Promise<string> {
  const scheme = /^(\S+)/.exec(challenge)?.[1]?.toLowerCase();
  if (scheme === 'basic') {
    if (credential?.username === undefined) throw denied(registry);
    return basic(credential);
  }
  if (scheme !== 'bearer')
    throw new SallyError('workload.image_missing', `${registry.origin} asks for a login we do not know`);
  const said = parametersOf(challenge);
  const realm = realmOf(said.realm, registry);
  const service = said.service === undefined ? {} : { service: said.service };
  const query = new URLSearchParams({ ...service, scope: said.scope ?? scope });
  const answer = await ask(...tokenRequest(realm, query, credential));
  if (answer.status !== 200) throw denied(registry);
  const { token, access_token } = fieldsOf(parseJson(answer.bytes.toString()));
  const found = token ?? access_token;
  if (typeof found !== 'string' || !/^[\x21-\x7e]{1,65536}$/.test(found)) throw denied(registry);
  return `Bearer ${found}`;
}

function tokenRequest(
  realm: URL,
  query: URLSearchParams,
  credential: RegistryCredential | undefined,
): [URL, HttpRequest] {
  if (credential?.identitytoken !== undefined) {
    query.set('grant_type', 'refresh_token');
    query.set('refresh_token', credential.identitytoken);
    query.set('client_id', 'sallyport');
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };
    return [realm, { method: 'POST', headers, body: query.toString() }];
  }
  const url = new URL(realm);
  for (const [name, value] of query) url.searchParams.set(name, value);
  return [url, { method: 'GET', headers: credential ? { authorization: basic(credential) } : {} }];
}

/** Passwords go there, so it is https, unless the registry itself is on this machine and has none. */
function realmOf(text: string | undefined, registry: URL): URL {
  const realm = URL.parse(text ?? '');
  if (realm?.protocol === 'https:' && `${realm.username}${realm.password}` === '') return realm;
  if (realm?.origin === registry.origin) return realm;
  throw new SallyError('workload.image_missing', `${registry.origin} sends us for a login to a place that is not safe`);
}

/** `Bearer realm="…",service="…"`. */
function parametersOf(challenge: string): Readonly<Record<string, string>> {
  const pairs = challenge.matchAll(/([a-z]+)=(?:"([^"]*)"|([^",\s]+))/gi);
  return Object.fromEntries(
    [...pairs].map(([, name = '', quoted, plain]) => [name.toLowerCase(), quoted ?? plain ?? '']),
  );
}

function basic({ username = '', password = '' }: RegistryCredential): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

function denied(registry: URL): SallyError {
  return new SallyError('workload.image_missing', `${registry.origin} does not let us in`, {
    hint: 'it may be private: log in with docker login or podman login',
  });
}
