import type { ClientMetadata } from 'oidc-provider';
import { OAuthError } from '../oauth-error.ts';
import { isLoopback, type RedirectRules, redirectUriProblem } from './redirect-uri.ts';

export interface ClientRules {
  readonly redirects: RedirectRules;
  readonly scopes: ReadonlySet<string>;
}

/** What a client may say about itself. The rest of a registration is not looked at, and reaches nobody. */
export type StatedMetadata = Omit<ClientMetadata, 'client_id'>;

const MOST_REDIRECTS = 10;
const LONGEST_NAME = 256;
const GRANT_TYPES = ['authorization_code', 'refresh_token'];
/** Controls, direction marks, invisible and unassigned characters: a name is shown to people who decide by it. */
const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

type Stated = Readonly<Record<string, unknown>>;

/** RFC 7591 §2, as far as we go: public clients with the code flow. Built from nothing, member by member. */
export function parseClientMetadata(stated: unknown, rules: ClientRules): StatedMetadata {
  if (typeof stated !== 'object' || stated === null || Array.isArray(stated)) throw invalid('must be a JSON object');
  const metadata = stated as Stated;
  const redirectUris = redirectUrisOf(metadata, rules.redirects);
  const name = nameOf(metadata);
  const grantTypes = grantTypesOf(metadata);
  const scope = scopeOf(metadata, grantTypes, rules.scopes);
  return {
    redirect_uris: redirectUris,
    application_type: applicationTypeOf(redirectUris),
    token_endpoint_auth_method: authMethodOf(metadata),
    grant_types: grantTypes,
    response_types: responseTypesOf(metadata),
    ...(name === undefined ? {} : { client_name: name }),
    ...(scope === undefined ? {} : { scope }),
    ...(metadata.dpop_bound_access_tokens === true ? { dpop_bound_access_tokens: true } : {}),
  };
}

/**
 * Whatever the client says: `native` is what lets a loopback address have any port and an app its own scheme. `web` compares
 * letter by letter, and may be a web server on https://localhost.
 */
export function applicationTypeOf(redirectUris: readonly string[]): 'native' | 'web' {
  return redirectUris.every((uri) => uri.toLowerCase().startsWith('https:')) ? 'web' : 'native';
}

function redirectUrisOf({ redirect_uris: uris }: Stated, rules: RedirectRules): string[] {
  if (!Array.isArray(uris) || uris.length === 0) throw invalidRedirect('must list at least one address');
  if (uris.length > MOST_REDIRECTS) throw invalidRedirect(`must not list more than ${MOST_REDIRECTS} addresses`);
  for (const [index, uri] of uris.entries()) {
    const problem = redirectUriProblem(uri, rules);
    if (problem !== undefined) throw new OAuthError(400, 'invalid_redirect_uri', `redirect_uris[${index}] ${problem}`);
  }
  if (uris.some(isLoopback) && uris.some((uri) => uri.toLowerCase().startsWith('https://localhost'))) {
    throw invalidRedirect('must not mix https://localhost with http on a loopback address');
  }
  return uris as string[];
}

function nameOf({ client_name: name }: Stated): string | undefined {
  if (name === undefined || name === null || name === '') return undefined;
  if (typeof name !== 'string' || name.length > LONGEST_NAME) {
    throw invalid(`client_name must be a text of at most ${LONGEST_NAME} characters`);
  }
  if (UNPRINTABLE.test(name)) throw invalid('client_name must consist of characters that can be seen');
  return name;
}

/** RFC 7591 would make `client_secret_basic` of silence. A client of an MCP server is an app that cannot keep a secret. */
function authMethodOf({ token_endpoint_auth_method: method }: Stated): 'none' {
  if (method === undefined || method === null || method === 'none') return 'none';
  throw invalid('token_endpoint_auth_method must be none: clients with a secret are configured by the operator');
}

/** RFC 7591 §3.2.1: what is asked for beyond what there is may be left out, and the answer says what is left. */
function grantTypesOf({ grant_types: types = GRANT_TYPES }: Stated): string[] {
  if (!isTexts(types) || !types.includes('authorization_code')) {
    throw invalid('grant_types must be a list with authorization_code in it');
  }
  return GRANT_TYPES.filter((type) => types.includes(type));
}

function responseTypesOf({ response_types: types = ['code'] }: Stated): ['code'] {
  if (!isTexts(types) || !types.includes('code')) throw invalid('response_types must be a list with code in it');
  return ['code'];
}

/**
 * Clients of MCP register with the scopes of the resource and ask for `offline_access` on top when they see that it is supported.
 * Who may refresh may have it, so it is added.
 */
function scopeOf({ scope }: Stated, grantTypes: readonly string[], supported: ReadonlySet<string>): string | undefined {
  if (scope === undefined || scope === null || scope === '') return undefined;
  const scopes = typeof scope === 'string' ? scope.split(' ') : scope;
  if (!isTexts(scopes)) throw invalid('scope must be a text with a space between scopes');
  if (!scopes.every((one) => supported.has(one))) {
    throw invalid(`scope may consist of ${[...supported].join(', ')}`);
  }
  const more = grantTypes.includes('refresh_token') ? ['offline_access'] : [];
  return [...new Set([...scopes, ...more])].join(' ');
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function invalid(problem: string): OAuthError {
  return new OAuthError(400, 'invalid_client_metadata', problem);
}

function invalidRedirect(problem: string): OAuthError {
  return new OAuthError(400, 'invalid_redirect_uri', `redirect_uris ${problem}`);
}
