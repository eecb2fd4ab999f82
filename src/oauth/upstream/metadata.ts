import {
  type AuthorizationServer,
  allowInsecureRequests,
  customFetch,
  discoveryRequest,
  processDiscoveryResponse,
} from 'oauth4webapi';
import { asUpstreamError, problemOf, UpstreamError } from './errors.ts';
import type { OAuth2Endpoints, OidcEndpoints, TokenSource, UpstreamStatus } from './types.ts';

/** Where a provider is, as the library wants to know it. */
export interface Metadata {
  readonly server: AuthorizationServer & { readonly authorization_endpoint: string; readonly token_endpoint: string };
  readonly source: TokenSource;
  /** Only for a provider on this machine. */
  readonly insecure: boolean;
}

/** Gives the metadata of a provider, fetched when it is first needed. */
export interface MetadataSource {
  get(): Promise<Metadata>;
  status(): Omit<UpstreamStatus, 'name'>;
}

export interface MetadataParts {
  readonly fetch: (url: string, request: object) => Promise<Response>;
  readonly now: () => number;
}

const FRESH = 60 * 60 * 1000;
/** A provider whose discovery document is down for a while can still be used; its keys and tokens are asked for elsewhere. */
const USABLE = 24 * FRESH;
/** Everybody who comes within this time shares one failure, so that a provider that is down is not asked by each of them. */
const FAILED = 5_000;
const MAX_URL = 2_048;

export function knownMetadata(endpoints: OAuth2Endpoints): MetadataSource {
  const { authorizationEndpoint, tokenEndpoint } = endpoints;
  const metadata: Metadata = {
    // A provider without discovery has no issuer that we know: nothing is ever compared with this one.
    server: {
      issuer: tokenEndpoint,
      authorization_endpoint: authorizationEndpoint,
      token_endpoint: tokenEndpoint,
    },
    source: { tokenEndpoint },
    insecure: isLoopbackHttp(tokenEndpoint),
  };
  return { get: async () => metadata, status: () => ({ state: 'ready' }) };
}

export function discoveredMetadata(provider: string, endpoints: OidcEndpoints, parts: MetadataParts): MetadataSource {
  let known: { readonly metadata: Metadata; readonly at: number } | undefined;
  let failure: { readonly error: UpstreamError; readonly at: number } | undefined;
  let underWay: Promise<Metadata> | undefined;

  async function refresh(): Promise<Metadata> {
    try {
      const metadata = await discover(provider, endpoints.issuer, parts);
      // The library keeps the provider's keys with this very object: an unchanged document keeps them.
      const same = known && JSON.stringify(known.metadata) === JSON.stringify(metadata);
      known = { metadata: same && known ? known.metadata : metadata, at: parts.now() };
      failure = undefined;
      return known.metadata;
    } catch (thrown) {
      const error = asUpstreamError(provider, thrown);
      failure = { error, at: parts.now() };
      if (error.transient && known && parts.now() - known.at < USABLE) return known.metadata;
      throw error;
    }
  }

  return {
    async get() {
      const now = parts.now();
      if (known && now - known.at < FRESH) return known.metadata;
      if (failure && now - failure.at < FAILED) {
        if (failure.error.transient && known && now - known.at < USABLE) return known.metadata;
        throw failure.error;
      }
      underWay ??= refresh().finally(() => {
        underWay = undefined;
      });
      return underWay;
    },
    status() {
      if (failure) return { state: 'unavailable', problem: problemOf(failure.error) };
      return { state: known ? 'ready' : 'unknown' };
    },
  };
}

async function discover(provider: string, issuer: string, parts: MetadataParts): Promise<Metadata> {
  const insecure = isLoopbackHttp(issuer);
  const url = new URL(issuer);
  const response = await discoveryRequest(url, {
    algorithm: 'oidc',
    [customFetch]: parts.fetch,
    [allowInsecureRequests]: insecure,
  });
  const document = await processDiscoveryResponse(url, response);
  // The library compares URLs; OpenID Connect Discovery §4.3 wants the very same text, and ID tokens are compared with it.
  if (document.issuer !== issuer) {
    throw new UpstreamError('upstream.answer_invalid', provider, 'its discovery document names another issuer', {
      hint: `write issuerUrl exactly as the provider does, with or without a slash at the end`,
    });
  }
  const endpoint = (name: 'authorization_endpoint' | 'token_endpoint' | 'jwks_uri'): string => {
    const value = document[name];
    if (typeof value === 'string' && isAllowedEndpoint(value, insecure)) return value;
    throw new UpstreamError('upstream.answer_invalid', provider, `its ${name} is missing or not an https URL`);
  };
  const optional = (name: 'userinfo_endpoint' | 'revocation_endpoint') => {
    const value = document[name];
    return typeof value === 'string' && isAllowedEndpoint(value, insecure) ? { [name]: value } : {};
  };
  const token_endpoint = endpoint('token_endpoint');
  const {
    userinfo_endpoint: _userinfo,
    revocation_endpoint: _revocation,
    mtls_endpoint_aliases: _mtls,
    ...rest
  } = document;
  return {
    server: {
      ...rest,
      authorization_endpoint: endpoint('authorization_endpoint'),
      token_endpoint,
      jwks_uri: endpoint('jwks_uri'),
      ...optional('userinfo_endpoint'),
      ...optional('revocation_endpoint'),
    },
    source: { issuer, tokenEndpoint: token_endpoint },
    insecure,
  };
}

/** https, or http on this machine for a provider that is itself on this machine. */
function isAllowedEndpoint(value: string, loopback: boolean): boolean {
  if (value.length > MAX_URL || !URL.canParse(value)) return false;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '' || url.hash !== '') return false;
  return url.protocol === 'https:' || (loopback && isLoopbackHttp(value));
}

function isLoopbackHttp(value: string): boolean {
  const { protocol, hostname } = new URL(value);
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
