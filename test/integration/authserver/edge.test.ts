import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/authserver/index.ts';
import { Secret } from '../../../src/base/index.ts';
import { startAuthServer } from '../../support/auth-server.ts';
import { createTestBrowser } from '../../support/cookie-jar.ts';

const DOCUMENTS = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];

describe('discovery', () => {
  it.each(DOCUMENTS)('%s says all that a client needs', async (path) => {
    await using server = await startAuthServer();
    const { issuer } = server;
    const { status, headers, json } = await server.get(path);
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      'content-type': expect.stringContaining('application/json'),
      'cache-control': 'public, max-age=300',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    });
    expect(json).toMatchObject({
      issuer,
      authorization_endpoint: `${issuer}/oauth/authorize`,
      token_endpoint: `${issuer}/oauth/token`,
      registration_endpoint: `${issuer}/oauth/register`,
      revocation_endpoint: `${issuer}/oauth/revoke`,
      jwks_uri: `${issuer}/.well-known/jwks.json`,
      response_types_supported: ['code'],
      response_modes_supported: ['query'],
      grant_types_supported: ['authorization_code', 'refresh_token'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['none'],
      scopes_supported: ['openid', 'offline_access', 'profile', 'email', 'tools'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256'],
      authorization_response_iss_parameter_supported: true,
      client_id_metadata_document_supported: true,
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
    });
    for (const absent of ['userinfo_endpoint', 'end_session_endpoint', 'device_authorization_endpoint']) {
      expect(json).not.toHaveProperty(absent);
    }
    expect(json).not.toHaveProperty('introspection_endpoint');
    expect(json).not.toHaveProperty('pushed_authorization_request_endpoint');
    expect(JSON.stringify(json)).not.toContain('HS256');
  });

  it('does not offer what is switched off', async () => {
    const registration = { dynamic: false, metadataDocuments: false, metadataHosts: [], redirectSchemes: [] };
    await using server = await startAuthServer({ plan: { registration } });
    const { json } = await server.get(DOCUMENTS[0] ?? '');
    expect(json).not.toHaveProperty('registration_endpoint');
    expect(json).not.toHaveProperty('client_id_metadata_document_supported');
    expect((await server.post('/oauth/register', '{}', { 'content-type': 'application/json' })).status).toBe(404);
  });

  it('offers secrets and introspection where a client has a secret', async () => {
    const clients = [
      { id: 'rs', name: 'RS', redirectUris: ['https://rs.example/cb'], secret: new Secret('s'.repeat(32)) },
    ];
    await using server = await startAuthServer({ plan: { clients } });
    const { json } = await server.get(DOCUMENTS[0] ?? '');
    expect(json).toMatchObject({
      introspection_endpoint: `${server.issuer}/oauth/introspect`,
      token_endpoint_auth_methods_supported: ['none', 'client_secret_basic', 'client_secret_post'],
    });
  });

  it('shows another place for the browser only where that is configured, and changes nothing else', async () => {
    const base = 'https://login.example/gate';
    await using server = await startAuthServer({ plan: { authorizationEndpointBase: base } });
    const { json } = await server.get(DOCUMENTS[0] ?? '');
    expect(json.authorization_endpoint).toBe(`${base}/oauth/authorize`);
    expect(json.token_endpoint).toBe(`${server.issuer}/oauth/token`);
    expect(json.issuer).toBe(server.issuer);
  });

  it('a login that begins at another place goes on at the issuer, where its cookies are', async () => {
    await using server = await startAuthServer({ plan: { authorizationEndpointBase: 'https://login.example' } });
    const { pathname, search } = server.authorizeUrl(await server.register());
    const { status, headers } = await server.get(`${pathname}${search}`, { host: 'login.example' });
    expect([status, headers['set-cookie']]).toEqual([303, undefined]);
    expect(headers.location).toMatch(`${server.issuer}/oauth/authorize?`);
    const until = (url: URL) => url.origin !== server.issuer;
    const { url } = await createTestBrowser().travel(headers.location ?? '', { until });
    expect(url.searchParams.get('code')).toBeTruthy();
  });

  it('an issuer with a path has its documents in both forms, and everything else below the path', async () => {
    await using server = await startAuthServer({ path: '/team/one' });
    for (const document of DOCUMENTS) {
      for (const path of [`${document}/team/one`, `/team/one${document}`]) {
        const { status, json } = await server.get(path);
        expect([path, status]).toEqual([path, 200]);
        expect(json).toMatchObject({
          issuer: server.issuer,
          token_endpoint: `${server.issuer}/oauth/token`,
          jwks_uri: `${server.issuer}/.well-known/jwks.json`,
        });
      }
      for (const path of [document, `${document}/team`, `${document}/team/one/more`, `${document}/other`]) {
        expect([path, (await server.get(path)).status]).toEqual([path, 404]);
      }
    }
    const client = await server.register();
    const { json } = await server.tokens(client);
    expect((await server.refresh(client, json.refresh_token)).status).toBe(200);
    const browser = createTestBrowser();
    const { headers } = await browser.open(server.authorizeUrl(client));
    expect(headers.location).toMatch(/^\/team\/one\/oauth\/interaction\//);
    for (const { path } of browser.cookies) expect(path).toMatch(/^\/team\/one\/oauth\/(interaction|authorize)\//);
    expect((await server.get('/oauth/authorize')).status).toBe(404);
    expect((await server.get('/.well-known/jwks.json')).status).toBe(404);
  });

  it('the keys are public parts only', async () => {
    await using server = await startAuthServer();
    const { json, headers } = await server.get('/.well-known/jwks.json');
    expect(json.keys).toEqual([
      {
        kty: 'EC',
        crv: 'P-256',
        alg: 'ES256',
        use: 'sig',
        kid: expect.any(String),
        x: expect.any(String),
        y: expect.any(String),
      },
    ]);
    expect(headers['cache-control']).toBe('public, max-age=300');
  });
});

describe('what a request says of its host', () => {
  const LIES = {
    'x-forwarded-host': 'evil.example',
    'x-forwarded-proto': 'ftp',
    'x-forwarded-for': '1.2.3.4',
    'x-forwarded-prefix': '/evil',
    'x-original-url': '/evil',
    forwarded: 'host=evil.example;proto=ftp',
  };

  it('reaches no document and no redirect', async () => {
    await using server = await startAuthServer();
    const { text } = await server.get(DOCUMENTS[0] ?? '', LIES);
    expect(text).not.toContain('evil');
    const { pathname, search } = server.authorizeUrl(await server.register());
    const answer = await server.get(`${pathname}${search}`, LIES);
    expect(JSON.stringify(answer.headers)).not.toContain('evil');
  });

  it('is refused by the router when it is another host, and pinned when it is another name of ours', async () => {
    await using server = await startAuthServer({ origin: 'https://auth.example' });
    expect((await server.get(DOCUMENTS[0] ?? '', { host: 'evil.example' })).status).toBe(403);
    const { json } = await server.get(DOCUMENTS[0] ?? '', { host: 'localhost:1234' });
    expect(json.token_endpoint).toBe('https://auth.example/oauth/token');
  });

  it('a login is not led elsewhere by it', async () => {
    await using server = await startAuthServer();
    const { pathname, search } = server.authorizeUrl(await server.register());
    const { headers } = await server.get(`${pathname}${search}`, { host: 'localhost:1', ...LIES });
    expect(headers.location).toMatch(/^\/oauth\/interaction\//);
  });

  it('an address in the request line is not believed', async () => {
    await using server = await startAuthServer();
    const answer = await server.get('http://evil.example/.well-known/openid-configuration');
    expect(answer.text).not.toContain('"issuer":"http://evil.example');
    expect(answer.status).toBe(404);
  });
});

describe('web pages of others', () => {
  const origin = 'https://inspector.example';

  it.each([
    ['/.well-known/oauth-authorization-server', 'GET'],
    ['/.well-known/jwks.json', 'GET'],
    ['/oauth/register', 'POST'],
    ['/oauth/token', 'POST'],
    ['/oauth/revoke', 'POST'],
  ])('may call %s, without cookies', async (path, method) => {
    await using server = await startAuthServer();
    const ask = { origin, 'access-control-request-method': method, 'access-control-request-headers': 'content-type' };
    const { status, headers } = await server.send('OPTIONS', path, ask);
    expect([status, headers['access-control-allow-origin']]).toEqual([204, '*']);
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    const answer = await server.send(method, path, { origin }, method === 'POST' ? '' : undefined);
    expect(answer.headers['access-control-allow-origin']).toBe('*');
  });

  it.each(['/oauth/authorize', '/oauth/interaction/x'])('cannot read %s', async (path) => {
    await using server = await startAuthServer();
    const { headers } = await server.get(path, { origin, 'sec-fetch-mode': 'cors' });
    expect(headers).not.toHaveProperty('access-control-allow-origin');
  });
});

describe('too much', () => {
  const ONE = { burst: 1, perSecond: 0.1 };
  const MANY = { burst: 1000, perSecond: 1000 };

  it.each([
    ['register', 'POST', '/oauth/register'],
    ['token', 'POST', '/oauth/token'],
    ['token', 'POST', '/oauth/revoke'],
  ] as const)('at the door %s is told when to come back', async (door, method, path) => {
    const limits = { ...LIMITS, [door]: { source: ONE, all: MANY } };
    let source = 'one';
    await using server = await startAuthServer({ limits, parts: { sourceOf: () => source } });
    await server.send(method, path, {}, '');
    const { status, headers, json } = await server.send(method, path, {}, '');
    expect([status, headers['retry-after']]).toEqual([429, '10']);
    expect(json).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
    source = 'another';
    expect((await server.send(method, path, {}, '')).status).toBe(400);
  });

  it.each([
    ['authorize', '/oauth/authorize'],
    ['callback', '/oauth/interaction/x'],
  ] as const)('at the door %s is a page', async (door, path) => {
    const limits = { ...LIMITS, [door]: { source: ONE, all: MANY } };
    await using server = await startAuthServer({ limits, parts: { sourceOf: () => 'one' } });
    await server.get(path);
    const { status, headers, text } = await server.get(path);
    expect([status, headers['retry-after']]).toEqual([429, '10']);
    expect(text).toContain('Too much is going on');
  });

  it('of all together is stopped even if nobody alone is too much', async () => {
    const limits = { ...LIMITS, register: { source: MANY, all: ONE } };
    let n = 0;
    await using server = await startAuthServer({ limits, parts: { sourceOf: () => `source ${n++}` } });
    await server.register();
    await expect(server.register()).rejects.toThrow(/429/);
  });

  it('is counted over a reload', async () => {
    const limits = { ...LIMITS, register: { source: ONE, all: MANY } };
    await using server = await startAuthServer({ limits, parts: { sourceOf: () => 'one' } });
    await server.register();
    await server.reload({ scopes: [] });
    await expect(server.register()).rejects.toThrow(/429/);
  });
});

describe('what goes wrong on our side', () => {
  it('is in the log under the id that the client gets, and nowhere else', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const { json } = await server.tokens(client);
    server.memory.store.get = async () => {
      throw new Error('the disk is full of secrets');
    };
    const answer = await server.refresh(client, json.refresh_token);
    expect([answer.status, answer.json.error]).toEqual([500, 'server_error']);
    expect(answer.text).not.toContain('disk');
    const incident = /incident ([\w-]+)/.exec(answer.json.error_description)?.[1];
    const line = server.logged.find((entry) => entry.incident === incident);
    expect(line).toMatchObject({ level: 'error', error: expect.stringContaining('disk') });

    const { pathname, search } = server.authorizeUrl(client);
    const page = await server.get(`${pathname}${search}`);
    expect(page.status).toBe(500);
    expect(page.text).not.toContain('disk');
    const shown = /<code>([\w-]+)<\/code>/.exec(page.text)?.[1];
    expect(server.logged.find((entry) => entry.incident === shown)?.level).toBe('error');
  });

  it('no token, code or secret is ever in the log', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const url = await server.authorize(client, { scope: 'openid offline_access' });
    const code = url.searchParams.get('code') ?? '';
    const { json } = await server.redeem(client, code);
    await server.refresh(client, json.refresh_token);
    await server.refresh(client, json.refresh_token, { scope: 'openid' });
    await server.redeem(client, code);
    const log = JSON.stringify(server.logged);
    for (const secret of [code, json.access_token, json.refresh_token, json.id_token])
      expect(log).not.toContain(secret);
    const { tsid } = JSON.parse(Buffer.from(json.access_token.split('.')[1], 'base64url').toString());
    expect(log).not.toContain(tsid);
  });
});
