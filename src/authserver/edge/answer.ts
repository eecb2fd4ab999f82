import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Log } from '../../base/index.ts';
import type { Answer } from '../library/ask.ts';
import { SESSION_COOKIE } from '../library/cookies.ts';
import { OAuthError } from '../oauth-error.ts';

/** What we take over from an answer of the library. Its ideas of CORS and framing stay with it. */
const TAKEN = ['content-type', 'location', 'www-authenticate', 'dpop-nonce', 'cache-control'];

const ALWAYS = { 'x-content-type-options': 'nosniff', 'referrer-policy': 'no-referrer' } as const;

export function sendAnswer(response: ServerResponse, { status, headers, body }: Answer): void {
  for (const name of TAKEN) if (headers[name] !== undefined) response.setHeader(name, headers[name]);
  const cookies = cookiesOf(headers['set-cookie']);
  if (cookies.length > 0) response.setHeader('set-cookie', cookies);
  if (!response.hasHeader('cache-control') && !headers['cache-control'])
    response.setHeader('cache-control', 'no-store');
  response.writeHead(status, ALWAYS).end(body);
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  response.writeHead(status, {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    ...ALWAYS,
    ...headers,
  });
  response.end(JSON.stringify(body));
}

export function sendError(response: ServerResponse, error: OAuthError): void {
  const body = { error: error.code, error_description: error.message };
  sendJson(response, error.status, body, {
    ...(error.retryAfter === undefined ? {} : { 'retry-after': String(error.retryAfter) }),
    // The rest of a body that is too large is not read, so nothing can follow it.
    ...(error.status === 413 ? { connection: 'close' } : {}),
  });
}

/** A failure of ours: the log gets it, the client an id to ask for. */
export function reportFailure(log: Log, failure: unknown): OAuthError {
  const incident = randomUUID();
  log.error('the authorization server failed', { incident, error: failure });
  return new OAuthError(500, 'server_error', `something went wrong on our side, incident ${incident}`, { incident });
}

/** The session that the library would keep in the browser does not exist. */
function cookiesOf(set: unknown): string[] {
  const all = Array.isArray(set) ? (set as string[]) : typeof set === 'string' ? [set] : [];
  return all.filter(
    (cookie) => !cookie.startsWith(`${SESSION_COOKIE}=`) && !cookie.startsWith(`${SESSION_COOKIE}.sig=`),
  );
}
