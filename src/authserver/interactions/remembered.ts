import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ServerSecrets } from '../secrets.ts';
import type { LoginCookies } from './cookies.ts';
import { isSame, type LoginFlow } from './flow.ts';

/** What a browser has agreed to before, in a cookie of its own. */
export interface RememberedConsent {
  has(request: IncomingMessage, flow: LoginFlow): boolean;
  add(request: IncomingMessage, response: ServerResponse, flow: LoginFlow): void;
}

const NAME = 'sally_consents';
const LIFETIME = 30 * 24 * 60 * 60;
const MOST = 20;

/**
 * Each agreement is one entry, `<end>.<HMAC over what was agreed to and the end>`: nobody but us can make one, and none says
 * anything about a client that is not asked about.
 */
export function createRememberedConsent(
  cookies: LoginCookies,
  secrets: ServerSecrets,
  now: () => number,
): RememberedConsent {
  const keys = secrets.derive('remembered consent');
  const seconds = (): number => Math.floor(now() / 1000);

  function sign(key: Buffer, { client, redirectUri, resource, scopes }: LoginFlow, end: string): string {
    const agreed = JSON.stringify([client.id, new URL(redirectUri).origin, resource, [...scopes].sort(), end]);
    return createHmac('sha256', key).update(agreed).digest('base64url').slice(0, 32);
  }

  const isFor = (flow: LoginFlow) => (entry: string) => {
    const [end = '', signature = ''] = entry.split('.');
    return keys.some((key) => isSame(signature, sign(key, flow, end)));
  };

  function entriesOf(request: IncomingMessage): readonly string[] {
    const entries = (cookies.read(request, NAME) ?? '').split('~').slice(-MOST);
    return entries.filter((entry) => Number.parseInt(entry, 36) > seconds());
  }

  return {
    has: (request, flow) => canBeRemembered(flow) && isOwnArrival(request) && entriesOf(request).some(isFor(flow)),
    add(request, response, flow) {
      if (!canBeRemembered(flow)) return;
      const isOther = (entry: string): boolean => !isFor(flow)(entry);
      const end = (seconds() + LIFETIME).toString(36);
      const entries = [...entriesOf(request).filter(isOther), `${end}.${sign(keys[0], flow, end)}`];
      cookies.write(response, NAME, entries.slice(-MOST).join('~'), LIFETIME);
    },
  };
}

/** Any program can listen on a loopback port or claim a scheme: only the owner of a web address stays the same. */
function canBeRemembered({ redirectUri }: LoginFlow): boolean {
  const { protocol, hostname } = new URL(redirectUri);
  return protocol === 'https:' && !/^(.+\.)?localhost\.?$|^\[::1\]$|^127\./.test(hostname);
}

/**
 * Row 15: whoever is brought here by another site sees the page again, because that site may be the one who wants the answer.
 * A browser that does not say where it comes from is taken for one.
 */
function isOwnArrival({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'none' || site === 'same-origin';
}
