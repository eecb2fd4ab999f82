import type { IncomingMessage } from 'node:http';
import { CallerRefused } from '../call.ts';

/** What a request shows of itself. */
export interface Presented {
  readonly scheme: 'bearer' | 'dpop';
  readonly token: string;
}

/** No issuer makes larger ones, and every byte of it costs us work before we know who sent it. */
const MAX_TOKEN = 16 * 1024;
/** RFC 9110 §11.2 token68, as RFC 6750 §2.1 has it. */
const TOKEN = /^[A-Za-z0-9\-._~+/]+=*$/;

/**
 * The token of a request, from the Authorization header and from nowhere else (RFC 6750 §2): what stands in a URL ends in logs.
 * Nothing presented, or in a scheme that is not ours, is `undefined`.
 */
export function readAuthorization(request: IncomingMessage): Presented | undefined {
  const { authorization } = request.headers;
  if (authorization === undefined) return undefined;
  if (hasTwo(request)) throw malformed('the request has two Authorization headers');
  const space = authorization.indexOf(' ');
  const scheme = schemeOf(space === -1 ? authorization : authorization.slice(0, space));
  if (scheme === undefined) return undefined;
  return { scheme, token: space === -1 ? '' : authorization.slice(space + 1).trim() };
}

/** For a token that we do not know yet: one that was found good has been looked at. */
export function refuseMalformed({ token }: Presented): void {
  if (token.length > MAX_TOKEN || !TOKEN.test(token))
    throw malformed('the Authorization header does not hold one token');
}

function schemeOf(word: string): Presented['scheme'] | undefined {
  if (word === 'Bearer') return 'bearer';
  const lower = word.toLowerCase();
  return lower === 'bearer' || lower === 'dpop' ? lower : undefined;
}

/** Node keeps the first of two; a proxy in front may have looked at the second. */
function hasTwo({ rawHeaders }: IncomingMessage): boolean {
  let found = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 13 && name.toLowerCase() === 'authorization') found += 1;
  }
  return found > 1;
}

function malformed(message: string): CallerRefused {
  return new CallerRefused('incoming.request_malformed', message, {
    error: 'invalid_request',
    scopes: [],
    dpop: false,
  });
}
