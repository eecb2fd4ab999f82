import type { IncomingMessage, ServerResponse } from 'node:http';
import { INTERACTION } from '../library/lifetimes.ts';
import { type Flow, hashOf, isSame, randomValue } from './flow.ts';

/** Cookies of the login pages. On https they have the `__Host-` prefix: no other host, however near, can set them. */
export interface LoginCookies {
  /** A cookie for a new flow; gives the hash that the flow keeps. The oldest goes when there are too many. */
  begin(request: IncomingMessage, response: ServerResponse, tag: string, startedAt: number): string;
  /** Whether the request comes from the browser in which the flow began. */
  holds(request: IncomingMessage, flow: Flow): boolean;
  end(response: ServerResponse, flow: Flow): void;
  read(request: IncomingMessage, name: string): string | undefined;
  /** `Strict` is for what no link of another site has to bring along. */
  write(response: ServerResponse, name: string, value: string, seconds: number, sameSite?: SameSite): void;
}

export type SameSite = 'Lax' | 'Strict';

/** So many logins can be under way in one browser. */
const MOST = 5;

export function createLoginCookies(issuer: string): LoginCookies {
  const secure = new URL(issuer).protocol === 'https:';
  const prefix = secure ? '__Host-' : '';
  const flowPrefix = `${prefix}sally_flow_`;

  /** Lax: the browser comes back from a provider by a link of another site. */
  function set(
    response: ServerResponse,
    name: string,
    value: string,
    seconds: number,
    sameSite: SameSite = 'Lax',
  ): void {
    const attributes = `Path=/; HttpOnly; SameSite=${sameSite}; Max-Age=${seconds}${secure ? '; Secure' : ''}`;
    response.appendHeader('set-cookie', `${name}=${value}; ${attributes}`);
  }

  return {
    begin(request, response, tag, startedAt) {
      const older = [...cookiesOf(request)].filter(([name]) => name.startsWith(flowPrefix)).sort(byAge);
      for (const [name] of older.slice(0, Math.max(0, older.length - MOST + 1))) set(response, name, '', 0);
      const value = `${startedAt.toString(36)}.${randomValue()}`;
      set(response, `${flowPrefix}${tag}`, value, INTERACTION);
      return hashOf(value);
    },
    holds(request, { tag, cookie }) {
      const value = cookiesOf(request).get(`${flowPrefix}${tag}`);
      return value !== undefined && cookie !== undefined && isSame(hashOf(value), cookie);
    },
    end: (response, { tag }) => set(response, `${flowPrefix}${tag}`, '', 0),
    read: (request, name) => cookiesOf(request).get(`${prefix}${name}`),
    write: (response, name, value, seconds, sameSite) => set(response, `${prefix}${name}`, value, seconds, sameSite),
  };
}

/** A name that comes twice is nobody's: we set each only once, so the other came from somewhere else. */
function cookiesOf({ headers }: IncomingMessage): ReadonlyMap<string, string> {
  const cookies = new Map<string, string>();
  const twice = new Set<string>();
  for (const part of (headers.cookie ?? '').split(';')) {
    const equals = part.indexOf('=');
    if (equals === -1) continue;
    const name = part.slice(0, equals).trim();
    if (cookies.has(name)) twice.add(name);
    cookies.set(name, part.slice(equals + 1).trim());
  }
  for (const name of twice) cookies.delete(name);
  return cookies;
}

/** The values begin with the time. */
function byAge([, one]: readonly [string, string], [, other]: readonly [string, string]): number {
  return Number.parseInt(one, 36) - Number.parseInt(other, 36);
}
