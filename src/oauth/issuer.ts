import { SallyError } from '../base/index.ts';
import type { GuardedFetch } from './fetch.ts';
import { unavailable } from './unavailable.ts';

export interface IssuerOptions {
  readonly issuer: string;
  /** Where its keys are; found by discovery when not given. */
  readonly jwksUrl?: string;
  readonly introspectionUrl?: string;
  readonly allowHttp: boolean;
  readonly fetch: GuardedFetch;
  /** A bearer token for discovery and keys, for issuers that do not show them to everybody. */
  readonly bearer?: () => Promise<string>;
}

/** An issuer of tokens elsewhere, as far as a resource server has to know it. */
export interface Issuer {
  readKeys(): Promise<unknown>;
  /** Where opaque tokens are asked about, if anywhere. */
  findIntrospection(): Promise<URL | undefined>;
}

type Document = Readonly<Record<string, unknown>>;

export function createIssuer(options: IssuerOptions): Issuer {
  const { issuer, jwksUrl, introspectionUrl, allowHttp, fetch } = options;

  async function get(url: URL): Promise<Document | undefined> {
    const token = options.bearer && isOurs(url) ? await options.bearer() : undefined;
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await fetch(url, { headers: { accept: 'application/json', ...authorization } }).catch(explain);
    if (answer.status !== 200) return undefined;
    const value: unknown = await answer.json().catch(() => undefined);
    return typeof value === 'object' && value !== null ? (value as Document) : undefined;
  }

  /** Our token goes to what the operator named, not to wherever a document points. */
  function isOurs(url: URL): boolean {
    return url.origin === URL.parse(issuer)?.origin || url.href === jwksUrl;
  }

  async function discover(): Promise<Document> {
    for (const url of discoveryUrls(secured(issuer, 'the address'))) {
      const document = await get(url);
      if (!document) continue;
      // OpenID Connect Discovery §4.3, RFC 8414 §3.3: to the letter. Another issuer's keys would let it name our users.
      if (document.issuer === issuer) return document;
      throw new SallyError('fetch.unreachable', `the document at ${url.href} is of another issuer than ${issuer}`, {
        hint: 'write the issuer exactly as it names itself, a closing slash included',
      });
    }
    throw new SallyError('fetch.unreachable', `${issuer} serves no discovery document`, {
      hint: 'check the issuer, or name its keys with jwksUrl (--oidc-jwks-url)',
    });
  }

  /** A URL may lead to an answer that decides about logins, so nobody in between may change it. */
  function secured(text: unknown, name: string): URL {
    const url = typeof text === 'string' ? URL.parse(text) : null;
    if (url && (url.protocol === 'https:' || (url.protocol === 'http:' && (allowHttp || isLoopback(url))))) return url;
    throw new SallyError('fetch.unreachable', `${name} of ${issuer} is missing or no https URL`, {
      hint: 'plain http is allowed with insecureAllowHTTP (--oidc-insecure-allow-http), for development only',
    });
  }

  return {
    async readKeys() {
      try {
        const url = secured(jwksUrl ?? (await discover()).jwks_uri, 'the key set');
        const keys = await get(url);
        if (keys) return keys;
        throw new SallyError('fetch.unreachable', `${url.href} serves no key set`);
      } catch (error) {
        throw unavailable(`the keys of ${issuer} cannot be read`, error);
      }
    },

    async findIntrospection() {
      try {
        const url = introspectionUrl ?? (await discover()).introspection_endpoint;
        return url === undefined ? undefined : secured(url, 'the introspection endpoint');
      } catch (error) {
        throw unavailable(`the introspection endpoint of ${issuer} cannot be found`, error);
      }
    },
  };
}

/** The guard knows the address, we know what would open the way to it. */
function explain(error: unknown): never {
  if (!(error instanceof SallyError) || error.code !== 'fetch.address_refused') throw error;
  const message = `${error.message}; for an issuer of your own network set jwksAllowPrivateIP (--jwks-allow-private-ip)`;
  throw new SallyError(error.code, message, { cause: error });
}

/** OpenID Connect appends, RFC 8414 inserts. */
function discoveryUrls({ origin, pathname }: URL): readonly URL[] {
  const path = pathname.replace(/\/$/, '');
  return [
    new URL(`${origin}${path}/.well-known/openid-configuration`),
    new URL(`${origin}/.well-known/oauth-authorization-server${path}`),
  ];
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.[0-9.]+$/.test(hostname);
}
