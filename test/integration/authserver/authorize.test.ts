import type { Adapter } from 'oidc-provider';
import { describe, expect, it } from 'vitest';
import { REDIRECT, startAuthServer, type TestAuthServer, type TestClient } from '../../support/auth-server.ts';
import { createTestBrowser } from '../../support/cookie-jar.ts';

type Params = Record<string, string | undefined>;

/** One request, without going along. */
async function open(server: TestAuthServer, client: TestClient, more: Params = {}, query = '') {
  const url = server.authorizeUrl(client, more);
  return await server.get(`${url.pathname}${url.search}${query}`);
}

const errorIn = (location: string | undefined) => Object.fromEntries(new URL(location ?? 'x:').searchParams);

describe('what a client can ask for', () => {
  it.each([
    ['no PKCE', { code_challenge: undefined, code_challenge_method: undefined }, 'invalid_request'],
    ['plain PKCE', { code_challenge_method: 'plain' }, 'invalid_request'],
    ['PKCE without a method, which means plain', { code_challenge_method: undefined }, 'invalid_request'],
    ['a challenge that is too short', { code_challenge: 'abc' }, 'invalid_request'],
    ['an unknown scope', { scope: 'openid admin' }, 'invalid_scope'],
    ['an unknown resource', { resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    ['a resource that is no address', { resource: 'mcp' }, 'invalid_target'],
    ['a silent answer', { prompt: 'none' }, 'login_required'],
    ['a page that posts itself', { response_mode: 'form_post' }, 'unsupported_response_mode'],
    ['an answer in the fragment', { response_mode: 'fragment' }, 'unsupported_response_mode'],
    ['a request object', { request: 'e30.e30.' }, 'request_not_supported'],
    ['a request by reference', { request_uri: 'http://169.254.169.254/' }, 'request_uri_not_supported'],
    ['client metadata on the way', { registration: '{}' }, 'registration_not_supported'],
  ])('%s is refused by a redirect that says who refuses', async (_name, more, error) => {
    await using server = await startAuthServer();
    const client = await server.register();
    const answer = await open(server, client, more);
    expect(answer.status).toBe(303);
    expect(answer.headers.location).toMatch(/^http:\/\/127\.0\.0\.1:9999\/callback\?/);
    expect(errorIn(answer.headers.location)).toMatchObject({ error, state: 'xyz', iss: server.issuer });
    expect(answer.headers['set-cookie']).toBeUndefined();
    expect(answer.headers['referrer-policy']).toBe('no-referrer');
  });

  it.each(['token', 'id_token', 'code id_token', 'none'])(
    'response_type=%s is refused where a client that asks so looks for the answer',
    async (response_type) => {
      await using server = await startAuthServer();
      const { headers } = await open(server, await server.register(), { response_type, nonce: 'n' });
      // OAuth 2.0 Multiple Response Types §3: all but code answer in the fragment.
      const { hash, searchParams } = new URL(headers.location ?? 'x:');
      const answer = new URLSearchParams(hash === '' ? searchParams : hash.slice(1));
      expect(answer.get('error')).toBe('unsupported_response_type');
    },
  );

  it('a missing PKCE with another response mode still answers in the query', async () => {
    await using server = await startAuthServer();
    const more = { code_challenge: undefined, code_challenge_method: undefined, response_mode: 'form_post' };
    const answer = await open(server, await server.register(), more);
    expect([answer.status, answer.text]).toEqual([303, '']);
    expect(errorIn(answer.headers.location).error).toBeDefined();
  });

  it('a parameter that comes twice is refused', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    for (const name of ['state', 'scope', 'code_challenge', 'response_type', 'response_mode', 'prompt']) {
      const { headers } = await open(server, client, { [name]: 'query' }, `&${name}=query`);
      expect(errorIn(headers.location), name).toMatchObject({ error: 'invalid_request' });
    }
  });

  it('two resources are refused, even if both are ours', async () => {
    await using server = await startAuthServer();
    const resource = encodeURIComponent(server.resource);
    const { headers } = await open(
      server,
      await server.register(),
      { resource: server.resource },
      `&resource=${resource}`,
    );
    expect(errorIn(headers.location)).toMatchObject({ error: 'invalid_target' });
  });

  it('a scope that the client did not register for is refused', async () => {
    await using server = await startAuthServer();
    const client = await server.register({ scope: 'openid tools' });
    expect(errorIn((await open(server, client, { scope: 'openid email' })).headers.location).error).toBe(
      'invalid_scope',
    );
    expect((await server.tokens(client, { scope: 'openid tools' })).json.scope).toBe('openid tools');
  });

  it('state may be left out', async () => {
    await using server = await startAuthServer();
    const url = await server.authorize(await server.register(), { state: undefined });
    expect([...url.searchParams.keys()].sort()).toEqual(['code', 'iss']);
  });

  it.each([
    ['no scope means all that there are', {}, undefined, 'openid profile email tools'],
    ['no scope means those of the registration', { scope: 'tools openid' }, undefined, 'tools openid offline_access'],
    ['an empty scope is no scope', {}, '', 'openid profile email tools'],
    ['offline_access stays without a prompt', {}, 'openid offline_access', 'openid offline_access'],
    ['openid may be left out', {}, 'tools', 'tools'],
  ])('%s', async (_name, metadata, scope, granted) => {
    await using server = await startAuthServer();
    const { json } = await server.tokens(await server.register(metadata), { scope });
    expect(json.scope).toBe(granted);
    expect(json.id_token !== undefined).toBe(granted.includes('openid'));
    expect(json.refresh_token).toBeDefined();
  });

  it.each(['login', 'consent', 'select_account', 'login consent'])(
    'prompt=%s is one login, not two',
    async (prompt) => {
      await using server = await startAuthServer();
      const url = await server.authorize(await server.register(), { prompt });
      expect(url.searchParams.get('code')).toBeTruthy();
    },
  );
});

describe('where a browser is sent', () => {
  it.each([
    ['another host', 'https://evil.example/callback'],
    ['another path', 'http://127.0.0.1:9999/callback/..%2fother'],
    ['a longer path', 'http://127.0.0.1:9999/callback/more'],
    ['a query', 'http://127.0.0.1:9999/callback?x=1'],
    ['another loopback name', 'http://localhost:9999/callback'],
    ['another scheme', 'https://127.0.0.1:9999/callback'],
    ['a user name', 'http://evil@127.0.0.1:9999/callback'],
    ['a user name that looks like a host', 'http://127.0.0.1:9999@evil.example/callback'],
    ['a fragment', 'http://127.0.0.1:9999/callback#x'],
    ['upper case', 'HTTP://127.0.0.1:9999/callback'],
    ['the same address in other words', 'http://2130706433:9999/callback'],
    ['a tab', 'http://127.0.0.1:9999/call\tback'],
    ['a line end', 'http://127.0.0.1:9999/callback\n'],
    ['a backslash', 'http://127.0.0.1:9999\\callback'],
    ['a null', 'http://127.0.0.1:9999/callback\u0000'],
    ['a port that is none', 'http://127.0.0.1:99x9/callback'],
    ['javascript', 'javascript:alert(1)'],
    ['nothing', '//'],
  ])('not to %s that was not registered, whatever else is wrong', async (_name, redirect_uri) => {
    await using server = await startAuthServer();
    const client = await server.register();
    for (const more of [{}, { code_challenge: undefined }, { prompt: 'none' }, { scope: 'admin' }]) {
      const answer = await open(server, client, { ...more, redirect_uri });
      expect(answer.status).toBe(400);
      expect(answer.headers.location).toBeUndefined();
      expect(answer.headers['content-type']).toContain('text/html');
      expect(answer.text).not.toContain('evil');
    }
  });

  it('nowhere if it is not said where, or said twice', async () => {
    await using server = await startAuthServer();
    const answer = await open(server, await server.register(), {}, '&redirect_uri=https%3A%2F%2Fevil.example');
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
    const silent = await open(server, await server.register(), { redirect_uri: undefined });
    expect([silent.status, silent.headers.location]).toEqual([400, undefined]);
  });

  it('a loopback address may have any port, and the code is bound to it', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const redirect_uri = 'http://127.0.0.1:5555/callback';
    const url = await server.authorize(client, { redirect_uri });
    expect(url.origin).toBe('http://127.0.0.1:5555');
    const code = url.searchParams.get('code') ?? '';
    expect((await server.redeem(client, code)).json.error).toBe('invalid_grant');
    expect((await server.redeem(client, code, { redirect_uri })).status).toBe(200);
  });

  it('an address on https has the port that was registered', async () => {
    await using server = await startAuthServer();
    const client = await server.register({ redirect_uris: ['https://app.example/cb', REDIRECT] });
    expect((await open(server, client, { redirect_uri: 'https://app.example:444/cb' })).status).toBe(400);
    expect((await server.authorize(client, { redirect_uri: 'https://app.example/cb' })).origin).toBe(
      'https://app.example',
    );
  });

  it('an app gets its code at its own scheme', async () => {
    await using server = await startAuthServer();
    const client = await server.register({ redirect_uris: ['cursor://anysphere.cursor-mcp/oauth/callback'] });
    const url = await server.authorize(client);
    expect(url.href).toMatch(/^cursor:\/\/anysphere\.cursor-mcp\/oauth\/callback\?code=/);
  });

  it('an unknown client is a page', async () => {
    await using server = await startAuthServer();
    const answer = await open(server, { client_id: 'unknown', redirect_uri: REDIRECT });
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
    expect(answer.text).toContain('This app is not known here');
    expect(answer.headers['content-security-policy']).toContain("frame-ancestors 'none'");
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });
});

describe('the browser', () => {
  it('keeps no session: each authorization goes through a login of its own', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const browser = createTestBrowser();
    await server.authorize(client, {}, browser);
    expect(browser.cookies.map(({ name }) => name)).not.toContain('sally_session');
    const again = await browser.open(server.authorizeUrl(client));
    expect(again.headers.location).toContain('/oauth/interaction/');
    const silent = await browser.open(server.authorizeUrl(client, { prompt: 'none' }));
    expect(errorIn(silent.headers.location).error).toBe('login_required');
  });

  it('a session cookie from elsewhere is of no use, and none is handed out for it', async () => {
    await using server = await startAuthServer();
    const url = server.authorizeUrl(await server.register());
    const answer = await server.get(`${url.pathname}${url.search}`, {
      cookie: 'sally_session=abc; sally_session.sig=def',
    });
    expect(answer.headers.location).toContain('/oauth/interaction/');
    expect(answer.headers['set-cookie']?.join()).not.toContain('sally_session');
  });

  it('holds signed cookies, each for its own path', async () => {
    await using server = await startAuthServer();
    const browser = createTestBrowser();
    const { headers } = await browser.open(server.authorizeUrl(await server.register()));
    const uid = headers.location?.split('/').pop();
    expect(browser.cookies.map(({ name, path, httpOnly, sameSite }) => [name, path, httpOnly, sameSite])).toEqual([
      ['sally_login', `/oauth/interaction/${uid}`, true, 'lax'],
      ['sally_login.sig', `/oauth/interaction/${uid}`, true, 'lax'],
      ['sally_resume', `/oauth/authorize/${uid}`, true, 'lax'],
      ['sally_resume.sig', `/oauth/authorize/${uid}`, true, 'lax'],
    ]);
  });

  it('on https the cookies are secure', async () => {
    await using server = await startAuthServer({ origin: 'https://auth.example' });
    const url = server.authorizeUrl(await server.register());
    const { headers } = await server.get(`${url.pathname}${url.search}`);
    expect(headers['set-cookie']).toHaveLength(4);
    for (const cookie of headers['set-cookie'] ?? []) expect(cookie).toMatch(/^__Secure-sally_.*; secure/);
  });

  it.each([
    ['without its cookie', ''],
    ['with a forged cookie', 'sally_resume=UID'],
    ['with a cookie and a wrong signature', 'sally_resume=UID; sally_resume.sig=AAAAAAAAAAAAAAAAAAAAAAAAAAA'],
  ])('cannot take up a login %s', async (_name, cookie) => {
    await using server = await startAuthServer();
    const { headers } = await createTestBrowser().open(server.authorizeUrl(await server.register()));
    const uid = headers.location?.split('/').pop() ?? '';
    const answer = await server.get(`/oauth/authorize/${uid}`, cookie ? { cookie: cookie.replace('UID', uid) } : {});
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
    expect(answer.text).toContain('This login is over');
  });

  it('a login that was finished cannot be finished again', async () => {
    await using server = await startAuthServer();
    const browser = createTestBrowser();
    const login = await browser.open(server.authorizeUrl(await server.register()));
    const resume = await browser.open(new URL(login.headers.location ?? '', server.issuer));
    const kept = browser.cookies;
    const first = await browser.open(resume.headers.location ?? '');
    expect(first.headers.location).toContain('code=');
    browser.cookies = kept;
    const second = await browser.open(resume.headers.location ?? '');
    expect([second.status, second.headers.location]).toEqual([400, undefined]);
  });

  it('several logins in one browser do not disturb each other', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const browser = createTestBrowser();
    const urls = await Promise.all(
      ['one', 'two', 'three'].map((state) => server.authorize(client, { state }, browser)),
    );
    expect(urls.map((url) => url.searchParams.get('state'))).toEqual(['one', 'two', 'three']);
    expect(new Set(urls.map((url) => url.searchParams.get('code'))).size).toBe(3);
  });

  it.each(['POST', 'PUT', 'DELETE', 'HEAD'])('%s is not a way to begin', async (method) => {
    await using server = await startAuthServer();
    const { pathname, search } = server.authorizeUrl(await server.register());
    const answer = await server.send(method, `${pathname}${search}`, {}, method === 'HEAD' ? undefined : '');
    expect([answer.status, answer.headers.allow]).toEqual([405, 'GET']);
  });

  it('logins that nobody goes on with are forgotten when there are too many, and not the one that somebody is in', async () => {
    await using server = await startAuthServer();
    const browser = createTestBrowser();
    const { headers } = await browser.open(server.authorizeUrl(await server.register()));
    const uid = headers.location?.split('/').pop() ?? '';
    const { Interaction } = server.login.provider;
    const { adapter } = Interaction as unknown as { adapter: Adapter };
    for (let n = 0; n < 12_000; n++) {
      await adapter.upsert(`flood ${n}`, { kind: 'Interaction' }, 1800);
      if (n % 1000 === 0) await adapter.find(uid);
    }
    expect(server.memory.store.report().rows).toBeLessThan(5_100);
    const until = (url: URL) => url.origin !== server.issuer;
    const { url } = await browser.travel(new URL(headers.location ?? '', server.issuer), { until });
    expect(url.searchParams.get('code')).toBeTruthy();
  });

  it('an endless query is refused', async () => {
    await using server = await startAuthServer();
    expect((await open(server, await server.register(), { state: 'x'.repeat(9000) })).status).toBe(414);
  });

  it.each(['/oauth/authorize/', '/oauth/authorize/a/b', '/oauth/authorize/../token', '/oauth/authorize/%2e%2e'])(
    'there is nothing at %s',
    async (path) => {
      await using server = await startAuthServer();
      expect((await server.get(path)).status).toBe(404);
    },
  );
});
