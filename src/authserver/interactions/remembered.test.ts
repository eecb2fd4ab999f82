import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createServerSecrets } from '../secrets.ts';
import { createLoginCookies } from './cookies.ts';
import type { LoginFlow } from './flow.ts';
import { createRememberedConsent } from './remembered.ts';

const FLOW: LoginFlow = {
  kind: 'login',
  uid: 'uid',
  tag: 'tag',
  cookie: '',
  csrf: '',
  grantId: '',
  client: { id: 'client' },
  redirectUri: 'https://app.test/callback',
  resource: 'https://gate.test/mcp',
  scopes: ['openid', 'email'],
  chain: ['corp'],
  startedAt: 0,
  consented: false,
  connected: 0,
  departures: 0,
};

function start(secrets: readonly [Buffer, ...Buffer[]] = [Buffer.alloc(32, 1)]) {
  const cookies = createLoginCookies('https://gate.test');
  const state = { now: 1_000_000_000_000 };
  const remembered = createRememberedConsent(cookies, createServerSecrets('a/b', secrets), () => state.now);
  return { cookies, remembered, state };
}

function request(headers: Record<string, string>): IncomingMessage {
  return Object.assign(new IncomingMessage(new Socket()), { headers: { 'sec-fetch-site': 'none', ...headers } });
}

/** The cookies that an answer sets, as the browser sends them back. */
function sentBack(work: (response: ServerResponse) => void): string {
  const response = new ServerResponse(request({}));
  work(response);
  const lines = [response.getHeader('set-cookie') ?? []].flat() as string[];
  return lines.map((line) => line.split(';')[0]).join('; ');
}

describe('consent that was given before', () => {
  it('is remembered by the browser for the same client, place, resource and scopes', () => {
    const { remembered } = start();
    const cookie = sentBack((response) => remembered.add(request({}), response, FLOW));
    expect(cookie).toMatch(/^__Host-sally_consents=/);
    expect(remembered.has(request({ cookie }), { ...FLOW, scopes: ['email', 'openid'] })).toBe(true);
    for (const other of [
      { client: { id: 'another' } },
      { redirectUri: 'https://evil.test/callback' },
      { resource: 'https://gate.test/other' },
      { scopes: ['openid', 'email', 'admin'] },
    ]) {
      expect(remembered.has(request({ cookie }), { ...FLOW, ...other })).toBe(false);
    }
    expect(remembered.has(request({}), FLOW)).toBe(false);
  });

  it.each(['cross-site', 'same-site'])('does not count for somebody who was led here: %s (row 15)', (site) => {
    const { remembered } = start();
    const cookie = sentBack((response) => remembered.add(request({}), response, FLOW));
    expect(remembered.has(request({ cookie, 'sec-fetch-site': site }), FLOW)).toBe(false);
  });

  it('does not count when the browser does not say where it comes from', () => {
    const { remembered } = start();
    const cookie = sentBack((response) => remembered.add(request({}), response, FLOW));
    const silent = Object.assign(request({}), { headers: { cookie } });
    expect(remembered.has(silent, FLOW)).toBe(false);
  });

  it.each(['http://127.0.0.1:5000/cb', 'https://localhost/cb', 'cursor://auth/callback'])(
    'is not remembered for %s, which anybody could be',
    (redirectUri) => {
      const { remembered } = start();
      const flow = { ...FLOW, redirectUri };
      expect(sentBack((response) => remembered.add(request({}), response, flow))).toBe('');
    },
  );

  it('cannot be made up, moved to a later end, or carried to another server', () => {
    const { remembered } = start();
    const cookie = sentBack((response) => remembered.add(request({}), response, FLOW));
    const later = cookie.replace(/=(\w+)\./, (_, end: string) => `=${(Number.parseInt(end, 36) + 9).toString(36)}.`);
    expect(later).not.toBe(cookie);
    expect(remembered.has(request({ cookie: later }), FLOW)).toBe(false);
    expect(start([Buffer.alloc(32, 2)]).remembered.has(request({ cookie }), FLOW)).toBe(false);
    expect(start([Buffer.alloc(32, 2), Buffer.alloc(32, 1)]).remembered.has(request({ cookie }), FLOW)).toBe(true);
  });

  it('ends after thirty days', () => {
    const { remembered, state } = start();
    const cookie = sentBack((response) => remembered.add(request({}), response, FLOW));
    state.now += 31 * 24 * 60 * 60 * 1000;
    expect(remembered.has(request({ cookie }), FLOW)).toBe(false);
  });

  it('is kept for twenty clients at most, the latest ones', () => {
    const { remembered } = start();
    let cookie = '';
    for (let index = 0; index < 30; index++) {
      const flow = { ...FLOW, client: { id: `client ${index}` } };
      const before = request({ cookie });
      cookie = sentBack((response) => remembered.add(before, response, flow));
    }
    const known = (index: number) =>
      remembered.has(request({ cookie }), { ...FLOW, client: { id: `client ${index}` } });
    expect(known(9)).toBe(false);
    expect(known(10)).toBe(true);
    expect(known(29)).toBe(true);
    expect(cookie.length).toBeLessThan(2_000);
  });
});

describe('the cookie of a flow', () => {
  it('is known again, and no other cookie is taken for it', () => {
    const { cookies } = start();
    const flow = { ...FLOW };
    const cookie = sentBack((response) => {
      Object.assign(flow, { cookie: cookies.begin(request({}), response, 'tag', 1_000) });
    });
    expect(cookie).toMatch(/^__Host-sally_flow_tag=/);
    expect(cookies.holds(request({ cookie }), flow)).toBe(true);
    expect(cookies.holds(request({ cookie: `${cookie}x` }), flow)).toBe(false);
    expect(cookies.holds(request({ cookie: `${cookie}; ${cookie}` }), flow)).toBe(false);
    expect(cookies.holds(request({}), flow)).toBe(false);
  });

  it('makes the oldest give way when there are more than five', () => {
    const { cookies } = start();
    const cookie = [5, 3, 1, 4, 2].map((age) => `__Host-sally_flow_f${age}=${(1_000 + age).toString(36)}.x`).join('; ');
    const response = new ServerResponse(request({}));
    cookies.begin(request({ cookie }), response, 'new', 2_000);
    const lines = response.getHeader('set-cookie') as string[];
    expect(lines).toHaveLength(2);
    expect(lines[0]).toMatch(/^__Host-sally_flow_f1=; .*Max-Age=0/);
    expect(lines[1]).toMatch(/^__Host-sally_flow_new=.*; Path=\/; HttpOnly; SameSite=Lax; Max-Age=1800; Secure$/);
  });

  it('has neither prefix nor Secure on http, where browsers would refuse them', () => {
    const cookies = createLoginCookies('http://127.0.0.1:4483');
    const response = new ServerResponse(request({}));
    cookies.begin(request({}), response, 'new', 2_000);
    const line = [response.getHeader('set-cookie')].flat()[0];
    expect(line).toMatch(/^sally_flow_new=/);
    expect(line).not.toMatch(/Secure/);
  });
});
