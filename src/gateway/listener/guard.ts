import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { hostname, networkInterfaces } from 'node:os';
import { type Route, SallyError } from '../../base/index.ts';

/** From where an endpoint may be reached. */
export interface Access {
  /** The address we listen on. */
  readonly host: string;
  /** Further names by which clients may call it, such as that of a proxy in front. */
  readonly allowedHosts: readonly string[];
  /** Web pages that may call it, as origins: `https://app.example.net`. */
  readonly allowedOrigins: readonly string[];
  /** Whether a proxy in front overwrites `X-Forwarded-*` and its word about our public URL is taken. */
  readonly trustProxyHeaders: boolean;
}

export interface Guard {
  /** Every route: the Host header must name this server. */
  checkHost(request: IncomingMessage): void;
  /** Which web pages may send this request, as its route says. */
  checkPage(request: IncomingMessage, pages: Route['pages']): void;
}

/**
 * Keeps web pages out. A page in the user's browser can send requests to a local port, and by DNS rebinding even read the
 * answers; but it cannot choose the Host header (that stays its own name) nor leave out the Origin.
 */
export function createGuard(access: Access): Guard {
  const hosts = new Set(ownNames(access).map(bare));
  const origins = new Set(access.allowedOrigins.map((origin) => origin.toLowerCase()));

  function isOwnHost(host: string): boolean {
    return hosts.has(host) || isLoopback(host);
  }

  function isOwnPage({ headers: { host, origin, 'sec-fetch-site': site } }: IncomingMessage): boolean {
    if (origin === undefined) return site !== 'cross-site';
    // A form of a page that sends no referrer has no origin either. Then it is the browser's word that counts.
    if (origin === 'null') return site === 'same-origin';
    return origins.has(origin.toLowerCase()) || isSameOrigin(origin, splitHost(host));
  }

  let lastHost: string | undefined;

  return {
    checkHost(request) {
      const { host: header } = request.headers;
      const one = !hasTwoHosts(request);
      // Most clients call by one name; having found it right once is enough.
      if (one && header !== undefined && header === lastHost) return;
      const host = splitHost(header);
      if (!host || !isOwnHost(host.name) || !one) {
        throw new SallyError('listener.host_refused', 'the Host header does not name this server', {
          hint: 'a name of your own is allowed with --allowed-host',
        });
      }
      lastHost = header;
    },

    checkPage(request, pages) {
      const { origin, 'sec-fetch-site': site } = request.headers;
      if (origin === undefined && site === undefined) return; // no browser
      if (pages === 'any' || isOwnPage(request) || (pages === 'navigation' && isNavigation(request))) return;
      throw new SallyError('listener.origin_refused', 'requests from web pages of another origin are not allowed', {
        hint: 'a page of your own is allowed with --allowed-origin',
      });
    },
  };
}

/** The user follows a link or a redirect: the answer fills the window. A page cannot read it, nor show it inside itself. */
function isNavigation({ method, headers }: IncomingMessage): boolean {
  const { 'sec-fetch-mode': mode, 'sec-fetch-dest': destination = 'document' } = headers;
  return (method === 'GET' || method === 'HEAD') && mode === 'navigate' && destination === 'document';
}

/** RFC 9112 §3.2: Node keeps the first of two Host headers, somebody else may believe the second. */
function hasTwoHosts({ rawHeaders = [] }: IncomingMessage): boolean {
  let hosts = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    if (rawHeaders[index]?.length === 4 && rawHeaders[index]?.toLowerCase() === 'host') hosts += 1;
  }
  return hosts > 1;
}

interface Host {
  readonly name: string;
  readonly port: string;
}

/** A page that we serve ourselves: same port, and the same name or another name of this machine. */
function isSameOrigin(origin: string, host: Host | undefined): boolean {
  const [, scheme, authority] = /^(https?):\/\/([^/?#@]+)$/i.exec(origin) ?? [];
  const from = splitHost(authority);
  if (!from || !host) return false;
  const standard = scheme?.toLowerCase() === 'https' ? '443' : '80';
  if ((from.port || standard) !== (host.port || standard)) return false;
  return from.name === host.name || (isLoopback(from.name) && isLoopback(host.name));
}

/** On a loopback address only loopback names are right; on others also the names and addresses of this machine. */
function ownNames({ host, allowedHosts }: Access): readonly string[] {
  if (isLoopback(host)) return allowedHosts;
  const addresses = Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
  return [...allowedHosts, host, hostname(), ...addresses];
}

/** `localhost`, 127.0.0.0/8 and ::1. A trailing dot and brackets do not matter, the name of a rebound page does. */
export function isLoopback(host: string): boolean {
  const name = bare(host);
  if (name === 'localhost') return true;
  if (isIP(name) === 0) return false;
  return isIP(name) === 4 ? name.startsWith('127.') : name === '::1' || name === '0:0:0:0:0:0:0:1';
}

/** Name and port of a Host header, or `undefined` when it is missing or not one host. */
function splitHost(header: string | undefined): Host | undefined {
  const [, name, port = ''] = /^(\[[0-9a-fA-F:.]+\]|[^[\]:/?#@\s,]+)(?::([0-9]{1,5}))?$/.exec(header ?? '') ?? [];
  return name === undefined ? undefined : { name: bare(name), port };
}

function bare(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
