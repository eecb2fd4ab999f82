import type { IncomingMessage } from 'node:http';
import { isIP } from 'node:net';
import { SallyError } from '../../base/index.ts';

export type Guard = (request: IncomingMessage) => void;

/**
 * Keeps web pages out. A page in the user's browser can send requests to a local port, and by DNS rebinding even read the
 * answers; but it cannot choose the Host header (that stays its own name) nor leave out the Origin.
 */
export function createGuard(listenHost: string): Guard {
  const local = isLoopback(listenHost);
  return function guard(request) {
    const host = hostOf(request.headers.host);
    // Behind a public name only the operator knows which names are right; on a loopback address there are just these.
    if (host === undefined || (local && !isLoopback(host))) {
      throw new SallyError('listener.host_refused', 'the Host header does not name this server');
    }
    const { origin } = request.headers;
    if (origin !== undefined && hostOf(originHost(origin)) !== host) {
      throw new SallyError('listener.origin_refused', 'requests from web pages of another origin are not allowed');
    }
  };
}

/** `localhost`, 127.0.0.0/8 and ::1. A trailing dot and brackets do not matter, the name of a rebound page does. */
export function isLoopback(host: string): boolean {
  const name = bare(host);
  if (name === 'localhost') return true;
  if (isIP(name) === 0) return false;
  return isIP(name) === 4 ? name.startsWith('127.') : name === '::1' || name === '0:0:0:0:0:0:0:1';
}

/** The host of a Host header without its port, or `undefined` when it is missing or not one host. */
function hostOf(header: string | undefined): string | undefined {
  const match = /^(\[[0-9a-fA-F:.]+\]|[^[\]:/?#@\s,]+)(?::[0-9]{1,5})?$/.exec(header ?? '');
  return match?.[1] === undefined ? undefined : bare(match[1]);
}

function originHost(origin: string): string | undefined {
  return /^https?:\/\/([^/?#]+)$/i.exec(origin)?.[1];
}

function bare(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
}
