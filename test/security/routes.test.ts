import { createLocalJWKSet, exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Route } from '../../src/base/index.ts';
import type { EmbeddedPlan, GatewayPlan, OidcPlan } from '../../src/plan/index.ts';
import { emptyPlan, type GatewayOptions, type Gateways, startGateways } from '../support/gateways.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';
import { MCP, send } from './support/wire.ts';

const PING = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
const AUDIENCE = 'https://mcp.example.net/mcp';

let issuer: TokenIssuer;
beforeAll(async () => {
  issuer = await startTokenIssuer({ audience: AUDIENCE });
});
afterAll(async () => {
  await issuer[Symbol.asyncDispose]();
});

const rules = { audience: AUDIENCE, scopes: ['openid'], requiredScopes: [] };
const oidc = (): OidcPlan => ({ kind: 'oidc', issuer: issuer.url, addresses: 'private', allowHttp: false, ...rules });
const embedded: EmbeddedPlan = { kind: 'embedded', issuer: 'https://mcp.example.net', resource: AUDIENCE, ...rules };
const single = (plan: GatewayPlan): GatewayPlan => ({ ...plan, aggregation: { kind: 'single' } });

const answered: Route['handler'] = (_request, response) => void response.writeHead(200).end('{}');

/** Stands for the routes that an authorization server brings along. */
const AS_ROUTES: readonly Route[] = [
  { path: '/oauth/token', authentication: 'client', pages: 'any', handler: answered },
  { path: '/oauth/interaction', below: true, authentication: 'browser', pages: 'navigation', handler: answered },
];

async function authServer(): Promise<GatewayOptions> {
  const { publicKey } = await generateKeyPair('ES256', { extractable: true });
  const keys = createLocalJWKSet({ keys: [await exportJWK(publicKey)] });
  return {
    authServer: {
      issuer: 'https://mcp.example.net',
      hosts: ['mcp.example.net'],
      routes: AS_ROUTES,
      tokens: { keys, isLive: () => true },
    },
  };
}

const SETUPS: Readonly<Record<string, () => Promise<Gateways>>> = {
  'one anonymous server': () => startGateways([single(emptyPlan('a', { kind: 'anonymous' }))]),
  'one protected server': () => startGateways([single(emptyPlan('a', oidc()))]),
  'one protected virtual server': () => startGateways([emptyPlan('a', oidc(), ['/mcp', '/a/mcp'])]),
  'several virtual servers': () =>
    startGateways([emptyPlan('a', oidc(), ['/a/mcp']), emptyPlan('b', { kind: 'anonymous' }, ['/b/mcp'])]),
  'a service account endpoint': () =>
    startGateways([emptyPlan('a', { kind: 'kubernetes', clusterAuth: true, issuer: issuer.url, ...rules })]),
  'an embedded server': async () => await startGateways([emptyPlan('a', embedded)], await authServer()),
};

/** What each path answers to who shows nothing, and to who shows something wrong. */
async function knock(url: URL, path: string, headers: Record<string, string>) {
  return await Promise.all(
    ['GET', 'POST', 'DELETE', 'PUT', 'HEAD'].map(async (method) => {
      const body = method === 'POST' ? { body: PING, headers: { ...MCP, ...headers } } : { headers };
      return await send(url, { method, path, ...body });
    }),
  );
}

describe.each(Object.entries(SETUPS))('24. with %s', (_name, start) => {
  let gateways: Gateways;
  beforeAll(async () => {
    gateways = await start();
  });
  afterAll(async () => {
    await gateways[Symbol.asyncDispose]();
  });

  it('every route that asks for a caller refuses who is none, by every method', async () => {
    const routes = gateways.routes.filter(({ authentication }) => authentication === 'caller');
    for (const { path } of routes) {
      for (const answer of await knock(gateways.url, path, {})) {
        expect(answer).toMatchObject({ status: 401 });
        expect(answer.headers['www-authenticate']).toMatch(/^Bearer resource_metadata="/);
      }
      const wrong = { authorization: `Bearer ${await issuer.token({ aud: 'https://other.example' })}` };
      for (const answer of await knock(gateways.url, path, wrong)) {
        expect([401, 503]).toContain(answer.status); // there is no cluster to ask
        if (answer.status === 401) expect(answer.headers['www-authenticate']).toContain('error="invalid_token"');
      }
    }
  });

  it('every route is of a kind that is listed here, and says who may come', () => {
    const known = [
      /^none own \/(health|readyz)$/,
      /^none own (\/b)?\/(mcp|sse|messages)$/, // the anonymous ones
      /^none any \/\.well-known\/oauth-protected-resource(\/.*)?$/,
      /^caller own (\/a)?\/(mcp|sse|messages)$/,
      /^client any \/oauth\/token$/,
      /^browser navigation \/oauth\/interaction$/,
    ];
    for (const { authentication, pages, path } of gateways.routes) {
      const line = `${authentication} ${pages} ${path}`;
      expect(known.some((pattern) => pattern.test(line)) || line).toBe(true);
    }
  });

  it('an anonymous route is of an anonymous gateway, and refuses credentials that nobody checks', async () => {
    const routes = gateways.routes.filter(
      ({ authentication, path }) =>
        authentication === 'none' && /(mcp|sse|messages)$/.test(path) && !/well-known/.test(path),
    );
    for (const { path } of routes) {
      for (const answer of await knock(gateways.url, path, { authorization: 'Bearer x' }))
        expect(answer).toMatchObject({ status: 401 });
    }
  });

  it('metadata is for everybody, and is there exactly where tokens are asked for', async () => {
    const callers = gateways.routes.filter(({ authentication }) => authentication === 'caller');
    for (const { path } of callers.filter((route) => route.path !== '/messages')) {
      const answer = await send(gateways.url, { method: 'GET', path: `/.well-known/oauth-protected-resource${path}` });
      expect(answer).toMatchObject({ status: 200 });
      expect(answer.headers['access-control-allow-origin']).toBe('*');
    }
    const root = await send(gateways.url, { method: 'GET', path: '/.well-known/oauth-protected-resource' });
    expect(root.status).toBe(callers.length > 0 && _name !== 'several virtual servers' ? 200 : 404);
    const anonymous = await send(gateways.url, { method: 'GET', path: '/.well-known/oauth-protected-resource/b/mcp' });
    expect(anonymous.status).toBe(404);
  });

  it.each([
    '/',
    '/mcp/',
    '/mcp/x',
    '/MCP',
    '//mcp',
    '/./mcp',
    '/a/../mcp',
    '/%6dcp',
    '/mcp%2f',
    '/mcp;x',
    '/mcp%00',
    '/health/../mcp',
    '/healthz',
    '/oauth',
    '/oauth/tokens',
    '/.well-known/oauth-protected-resource/',
    '/.well-known/oauth-protected-resource/other',
    '/.well-known/openid-configuration',
  ])('what is not in the table does not exist: %s', async (path) => {
    for (const answer of await knock(gateways.url, path, {})) expect(answer).toMatchObject({ status: 404 });
  });

  it('a foreign Host is refused at every route', async () => {
    for (const { path } of gateways.routes)
      expect(await send(gateways.url, { method: 'GET', path, headers: { host: 'evil.example' } })).toMatchObject({
        status: 403,
      });
  });

  it('a foreign page is let in only where the route says so', async () => {
    const headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    for (const { path, pages } of gateways.routes) {
      const answer = await send(gateways.url, { method: 'GET', path, headers });
      expect(answer.status === 403).toBe(pages !== 'any');
      const preflight = await send(gateways.url, { method: 'OPTIONS', path, headers });
      expect(preflight.headers['access-control-allow-origin']).toBe(pages === 'any' ? '*' : undefined);
      expect(preflight.headers['access-control-allow-credentials']).toBeUndefined();
    }
  });
});

describe('routes of an authorization server', () => {
  it('are reached below their path, and by the host of the issuer', async () => {
    await using gateways = await startGateways([emptyPlan('a', embedded)], await authServer());
    const at = (path: string, headers = {}) => send(gateways.url, { method: 'GET', path, headers });
    expect(await at('/oauth/interaction/abc/finish')).toMatchObject({ status: 200 });
    expect(await at('/oauth/interactions')).toMatchObject({ status: 404 });
    expect(await at('/oauth/token/x')).toMatchObject({ status: 404 });
    expect(await at('/oauth/token', { host: 'mcp.example.net' })).toMatchObject({ status: 200 });
  });

  it('never share a path with something else', async () => {
    const double = emptyPlan('b', { kind: 'anonymous' }, ['/oauth/token']);
    await expect(startGateways([emptyPlan('a', embedded), double], await authServer())).rejects.toMatchObject({
      code: 'config.invalid',
    });
  });
});
