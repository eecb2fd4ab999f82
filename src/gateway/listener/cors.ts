import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Access } from './guard.ts';

/** Lets the allowed web pages read our answers. Gives `true` when the request was only their question whether they may. */
export type Cors = (request: IncomingMessage, response: ServerResponse) => boolean;

export function createCors({ allowedOrigins }: Access): Cors {
  if (allowedOrigins.length === 0) return () => false;
  const origins = new Set(allowedOrigins.map((origin) => origin.toLowerCase()));
  return function cors(request, response) {
    const { origin } = request.headers;
    response.setHeader('vary', 'Origin');
    if (origin === undefined || !origins.has(origin.toLowerCase())) return false;
    response.setHeader('access-control-allow-origin', origin);
    response.setHeader('access-control-expose-headers', 'Mcp-Session-Id, MCP-Protocol-Version, WWW-Authenticate');
    if (request.method !== 'OPTIONS') return false;
    response.setHeader('access-control-allow-methods', 'POST, GET, DELETE');
    response.setHeader(
      'access-control-allow-headers',
      request.headers['access-control-request-headers'] ?? 'Content-Type',
    );
    response.setHeader('access-control-max-age', '600');
    response.writeHead(204).end();
    return true;
  };
}

/** For what any page may read. Nothing there depends on a cookie, and without credentials none is sent. */
export function allowEveryPage(request: IncomingMessage, response: ServerResponse): boolean {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', 'WWW-Authenticate, DPoP-Nonce, Retry-After');
  if (request.method !== 'OPTIONS') return false;
  response.setHeader('access-control-allow-methods', 'GET, HEAD, POST');
  // Fetch standard: the star does not cover Authorization.
  response.setHeader('access-control-allow-headers', '*, Authorization');
  response.setHeader('access-control-max-age', '600');
  response.writeHead(204).end();
  return true;
}
