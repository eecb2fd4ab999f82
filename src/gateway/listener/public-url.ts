import type { IncomingMessage } from 'node:http';
import type { Access } from './guard.ts';

/** The URL by which clients know what is served at a path, as far as it can be told from one of their requests. */
export type PublicUrl = (request: IncomingMessage, path: string) => string;

/**
 * What was configured wins. Otherwise it is the Host that the guard has found right; the word of a proxy counts only where
 * the operator says that the proxy overwrites these headers, since any client could write them too.
 */
export function createPublicUrl(resource: string | undefined, { trustProxyHeaders }: Access): PublicUrl {
  if (resource !== undefined) return () => resource;
  return ({ headers }, path) => {
    const own = { scheme: 'http', authority: headers.host ?? '', prefix: '' };
    const said = trustProxyHeaders ? join({ ...own, ...saidByProxy(headers) }, path) : undefined;
    // Pieces that look right may still make no URL: a port above 65535, an address of five numbers.
    return said !== undefined && URL.canParse(said) ? said : join(own, path);
  };
}

function join({ scheme, authority, prefix }: Required<Said>, path: string): string {
  return `${scheme}://${authority.toLowerCase()}${prefix}${path}`;
}

const HOST = /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]{1,5})?$/;
const PORT = /^[0-9]{1,5}$/;
const PREFIX = /^(\/[A-Za-z0-9._~-]+)+$/;
const STANDARD: Readonly<Record<string, string>> = { http: '80', https: '443' };

interface Said {
  readonly scheme?: string;
  readonly authority?: string;
  readonly prefix?: string;
}

/** What cannot be a scheme, a host, a port or a path is as good as not said. */
function saidByProxy(headers: IncomingMessage['headers']): Said {
  const scheme = matching(/^https?$/, headers['x-forwarded-proto']?.toString().toLowerCase());
  const host = matching(HOST, headers['x-forwarded-host']);
  const port = matching(PORT, headers['x-forwarded-port']);
  const prefix = matching(PREFIX, headers['x-forwarded-prefix']?.toString().replace(/\/$/, ''));
  const isStandard = port === undefined || port === STANDARD[scheme ?? 'http'];
  const authority = host && !isStandard && !/:[0-9]+$/.test(host) ? `${host}:${port}` : host;
  return {
    ...(scheme === undefined ? {} : { scheme }),
    ...(authority === undefined ? {} : { authority }),
    ...(prefix === undefined ? {} : { prefix }),
  };
}

/** Of a list the first counts: each proxy on the way appends what it saw itself. */
function matching(pattern: RegExp, header: string | string[] | undefined): string | undefined {
  const first = header?.toString().split(',', 1)[0]?.trim() ?? '';
  return pattern.test(first) ? first : undefined;
}
