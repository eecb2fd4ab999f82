import { type HttpHandler, type Log, SallyError } from '../../base/index.ts';
import type { PublicUrl } from './public-url.ts';
import { refuse } from './refuse.ts';

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** RFC 9728 §3.1: the well-known segment stands between the host and the path of the resource. */
export function metadataPath(path: string): string {
  return path === '/' ? WELL_KNOWN : `${WELL_KNOWN}${path}`;
}

export function metadataUrl(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  return `${origin}${metadataPath(pathname)}${search}`;
}

export interface ResourceFacts {
  readonly name: string;
  readonly publicUrl: PublicUrl;
  /** The URL is the same for every request, so that the document may be kept by caches. */
  readonly fixed: boolean;
  /** Who issues the tokens. It may have to be found out first. */
  readonly issuer: () => string | Promise<string>;
  readonly scopes: readonly string[];
  readonly dpopAlgorithms: readonly string[];
  readonly log: Log;
}

/** The protected resource metadata of what is served at a path (RFC 9728): where a client gets its token. */
export function createMetadata(facts: ResourceFacts, path: string): HttpHandler {
  return async function metadata(request, response) {
    try {
      if (request.method !== 'GET' && request.method !== 'HEAD') {
        throw new SallyError('listener.method_refused', `metadata takes GET, not ${request.method}`, {
          data: { allow: 'GET, HEAD, OPTIONS' },
        });
      }
      const body = JSON.stringify({
        resource: facts.publicUrl(request, path),
        authorization_servers: [await facts.issuer()],
        // Whether a client gets refresh tokens is between it and the authorization server.
        scopes_supported: facts.scopes.filter((scope) => scope !== 'offline_access'),
        bearer_methods_supported: ['header'],
        dpop_signing_alg_values_supported: facts.dpopAlgorithms,
        resource_name: facts.name,
      });
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        // A document that depends on the request's headers would poison a cache that knows only its URL.
        'cache-control': facts.fixed ? 'public, max-age=300' : 'no-store',
      });
      response.end(request.method === 'HEAD' ? undefined : body);
    } catch (error) {
      refuse(response, error, undefined, facts.log);
    }
  };
}
