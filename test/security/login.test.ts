import { createHash, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogin } from '../support/caller.ts';
import { createTestBrowser, type TestBrowser, type Visit } from '../support/cookie-jar.ts';
import { type DocumentHost, startDocumentHost } from '../support/document-host.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { type LoginGateway, startLoginGateway } from '../support/login-gateway.ts';
import { type OAuth2Provider, startOAuth2Provider } from '../support/oauth2-provider.ts';
import { eventually } from '../support/processes.ts';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.ts';
import { ROOT } from '../support/sally.ts';
import { type Attempt, createStranger, type RegisteredClient, type Stranger } from './support/login-attacker.ts';

/**
 * Attacks on a login, each against the real `sally vmcp serve` with two providers. Numbers are rows of the security cases. What
 * single parts do is in `test/integration/login-chain.test.ts` and `test/integration/authserver`.
 */
const WEB_APP = 'https://app.example/callback';

let corp: IdentityProvider;
let hub: OAuth2Provider;
let notes: RecordingServer;
let gateway: LoginGateway;
let stranger: Stranger;
beforeAll(async () => {
  [corp, hub, notes] = await Promise.all([
    startIdentityProvider({ user: 'alice' }),
    startOAuth2Provider({ automatic: true, tokenResponse: 'nested' }),
    startRecordingServer(),
  ]);
  gateway = await startLoginGateway({
    providers: { corp, hub },
    backends: { notes: notes.url },
    tokensOf: { notes: 'corp' },
  });
  stranger = createStranger(gateway.issuer);
});
afterAll(async () => {
  stranger[Symbol.dispose]();
  for (const one of [gateway, corp, hub, notes]) await one[Symbol.asyncDispose]();
});

/** Up to the moment when the browser is about to come back from the first provider. */
async function untilCallback({ url }: Attempt, browser: TestBrowser): Promise<URL> {
  const until = (next: URL): boolean => next.href.startsWith(`${gateway.issuer}/oauth/callback`);
  const consent = await browser.travel(url);
  return (await browser.submit(consent, { decision: 'allow' }, { until })).url;
}

const isConsent = ({ body }: Visit): boolean => body.includes('name="decision"');
const pathOf = ({ pathname, search }: URL): string => `${pathname}${search}`;

describe('14. a login ends in the browser where it began', () => {
  it('a victim who finishes what an attacker began sees a warning, and the attacker gets nothing', async () => {
    const attempt = stranger.attempt(await stranger.register());
    const attacker = createTestBrowser();
    const callback = await untilCallback(attempt, attacker);
    const redeemed = corp.calls('token');
    const page = await createTestBrowser().travel(callback);
    expect(page.status).toBe(403);
    expect(page.body).toContain('another browser');
    expect(corp.calls('token')).toBe(redeemed);
    // For the attacker it is over as well.
    expect((await attacker.travel(callback)).status).toBe(404);
  });

  it('a victim who is sent into the middle of it goes nowhere', async () => {
    const attacker = createTestBrowser();
    const consent = await attacker.travel(stranger.attempt(await stranger.register()).url);
    const asked = corp.calls('authorize');
    for (const step of ['', '/next', '/finish']) {
      expect((await createTestBrowser().travel(`${consent.url.href}${step}`)).status).toBe(404);
    }
    expect(corp.calls('authorize')).toBe(asked);
    expect(isConsent(await attacker.open(consent.url))).toBe(true);
  });

  it('what an attacker agreed to does not count in a browser that took the login over, however late he says it', async () => {
    const attempt = stranger.attempt(await stranger.register());
    const attacker = createTestBrowser();
    const consent = await attacker.travel(attempt.url);
    // A host nearby can give a browser the library's cookie, which is bound to a path; ours it cannot (`__Host-`).
    const victim = createTestBrowser();
    victim.cookies = attacker.cookies.filter(({ name }) => !name.startsWith('sally_flow'));

    const csrf = /name="csrf" value="([^"]+)"/.exec(consent.body)?.[1] ?? '';
    const body = new URLSearchParams({ csrf, decision: 'allow' }).toString();
    const late = await startSlowly(`${consent.url.pathname}/consent`, attacker, body);
    expect(isConsent(await victim.open(consent.url))).toBe(true);
    await late.finish();

    const asked = corp.calls('authorize');
    const until = (url: URL): boolean => url.href.startsWith(attempt.client.redirectUri);
    const page = await victim.travel(`${consent.url.href}/next`, { until });
    expect(isConsent(page)).toBe(true);
    expect(corp.calls('authorize')).toBe(asked);
  });
});

/** Sends a form whose last byte comes later. */
async function startSlowly(path: string, { cookies }: TestBrowser, body: string) {
  const { hostname, port, host } = new URL(gateway.issuer);
  const socket = connect(Number(port), hostname);
  const lines = [
    `POST ${path} HTTP/1.1`,
    `host: ${host}`,
    'content-type: application/x-www-form-urlencoded',
    `content-length: ${body.length}`,
    `cookie: ${cookies.map(({ name, value }) => `${name}=${value}`).join('; ')}`,
    'connection: close',
  ];
  let answer = '';
  const ended = new Promise<string>((resolve, reject) => {
    socket.setEncoding('utf8').on('data', (chunk: string) => {
      answer += chunk;
    });
    socket.on('error', reject).on('end', () => resolve(answer));
  });
  await new Promise<void>((resolve) =>
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, -1)}`, () => resolve()),
  );
  await new Promise((resolve) => setTimeout(resolve, 200)); // until it is being read
  return {
    finish(): Promise<string> {
      socket.write(body.slice(-1));
      return ended;
    },
  };
}

describe('15. a site that sends a user here always has to ask', () => {
  it('although the same client was let in before', async () => {
    const client = await stranger.register({ redirect_uris: [WEB_APP] });
    const browser = createTestBrowser();
    const { url } = await stranger.logIn(stranger.attempt(client), browser);
    expect(url.searchParams.has('code')).toBe(true);

    const begin = async (from?: string) => {
      const start = await browser.open(stranger.attempt(client).url, from);
      return await browser.open(new URL(start.headers.location ?? '', gateway.issuer), from);
    };
    expect((await begin()).status).toBe(303);
    const asked = corp.calls('authorize');
    expect(isConsent(await begin('https://attacker.example/'))).toBe(true);
    expect(corp.calls('authorize')).toBe(asked);
  });
});

describe('16. a new client is never let in by what the provider remembers', () => {
  it('its user is asked first, and sees where the answer goes', async () => {
    const browser = createTestBrowser();
    await stranger.logIn(stranger.attempt(await stranger.register()), browser);
    const asked = corp.calls('authorize');
    const other = await stranger.register({ client_name: 'Notes', redirect_uris: ['https://attacker.example/cb'] });
    const page = await browser.travel(stranger.attempt(other).url);
    expect(isConsent(page)).toBe(true);
    expect(page.body).toContain('https://attacker.example/cb');
    expect(corp.calls('authorize')).toBe(asked);
  });

  it('a form that is not the one on the page is no answer', async () => {
    const browser = createTestBrowser();
    const consent = await browser.travel(stranger.attempt(await stranger.register()).url);
    const asked = corp.calls('authorize');
    for (const csrf of ['', 'x'.repeat(43)]) {
      expect((await browser.submit(consent, { decision: 'allow', csrf })).status).toBe(403);
    }
    const page = await browser.open(`${consent.url.href}/next`);
    expect(page.headers.location).toBe(consent.url.pathname);
    expect(corp.calls('authorize')).toBe(asked);
  });

  it('a form of another site is refused before it is read', async () => {
    const browser = createTestBrowser();
    const consent = await browser.travel(stranger.attempt(await stranger.register()).url);
    const cookie = browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ');
    const csrf = /name="csrf" value="([^"]+)"/.exec(consent.body)?.[1] ?? '';
    const headers = { cookie, origin: 'https://attacker.example', 'sec-fetch-site': 'cross-site' };
    const answer = await stranger.post(`${consent.url.pathname}/consent`, { csrf, decision: 'allow' }, headers);
    expect(answer.status).toBe(403);
    expect(isConsent(await browser.open(consent.url))).toBe(true);
  });

  it('a form that is far too long gets an answer, and changes nothing', async () => {
    const browser = createTestBrowser();
    const consent = await browser.travel(stranger.attempt(await stranger.register()).url);
    const page = await browser.submit(consent, { decision: 'allow', more: 'x'.repeat(100_000) });
    expect(page.status).toBe(403);
    expect(isConsent(await browser.open(consent.url))).toBe(true);
  });
});

describe('17. nothing below a path leads out of it', () => {
  it.each([
    '/oauth/interaction/../authorize',
    '/oauth/interaction/%2e%2e/%2e%2e/mcp',
    '/oauth/interaction/..%2fcallback',
    '/oauth/interaction//attacker.example',
    '/oauth/authorize/../token',
    '/oauth/authorize/%2e%2e%2ftoken',
    '/oauth/interaction/x\\..\\y',
  ])('%s', async (path) => {
    const { status, headers } = await stranger.send('GET', path, {
      'sec-fetch-site': 'none',
      'sec-fetch-mode': 'navigate',
    });
    expect(status).toBe(404);
    expect(headers.location).toBeUndefined();
  });
});

describe('18. a code goes where it was asked for, to whom has the verifier', () => {
  let client: RegisteredClient;
  beforeAll(async () => {
    client = await stranger.register({ redirect_uris: ['https://app.example/callback'] });
  });

  it.each([
    'https://app.example/callback/',
    'https://app.example/callback?x=1',
    'https://app.example/Callback',
    'https://app.example:444/callback',
    'https://app.example.attacker.example/callback',
    'https://app.example@attacker.example/callback',
    'http://app.example/callback',
    'https://attacker.example/',
  ])('not to %s', async (redirect_uri) => {
    const { url } = stranger.attempt(client, { redirect_uri });
    const { status, headers, text } = await stranger.send('GET', pathOf(url));
    expect(status).toBe(400);
    expect(headers.location).toBeUndefined();
    expect(text).not.toContain('attacker');
  });

  it('not for another redirect address at the token endpoint than at the start', async () => {
    const attempt = stranger.attempt(await stranger.register());
    const { url } = await stranger.logIn(attempt);
    const answer = await stranger.redeem(attempt, url, { redirect_uri: 'http://127.0.0.1:9/other' });
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['no challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['the method plain', { code_challenge_method: 'plain' }],
    ['no method, which means plain', { code_challenge_method: undefined }],
  ])('not with %s', async (_what, more) => {
    const { url } = stranger.attempt(await stranger.register(), more);
    const { status, headers } = await stranger.send('GET', pathOf(url));
    expect(status).toBe(303);
    expect(new URL(headers.location ?? '').searchParams.get('error')).toBe('invalid_request');
  });

  it.each([undefined, '', 'x'.repeat(43)])('not for the verifier %j', async (code_verifier) => {
    const attempt = stranger.attempt(await stranger.register());
    const { url } = await stranger.logIn(attempt);
    const form = {
      grant_type: 'authorization_code',
      client_id: attempt.client.id,
      redirect_uri: attempt.client.redirectUri,
      code: url.searchParams.get('code') ?? '',
      ...(code_verifier === undefined ? {} : { code_verifier }),
    };
    expect(await stranger.post('/oauth/token', form)).toMatchObject({ status: 400 });
  });
});

describe('19. addresses that a browser would run are no redirect addresses', () => {
  it.each([
    'javascript:alert(1)',
    'JavaScript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    'blob:https://app.example/x',
    'intent://x#Intent;end',
    'http://app.example/callback',
    'https://app.example/#x',
    '//app.example/callback',
    ' https://app.example/callback',
    'https://app.example/\ncallback',
  ])('%j', async (uri) => {
    const body = JSON.stringify({ client_name: 'x', redirect_uris: [uri] });
    const answer = await stranger.send('POST', '/oauth/register', { 'content-type': 'application/json' }, body);
    expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_redirect_uri' } });
  });
});

describe('38. tokens go back to where they came from', () => {
  it('and nowhere else, although the provider says later that it has moved', async () => {
    await using attacker = await startRecordingServer();
    await using moving = await startLoginGateway({
      providers: { corp },
      backends: { notes: notes.url },
      tokensOf: { notes: 'corp' },
      authServer: { tokenLifespans: { accessTokenLifespan: '24h' } },
      env: {
        NODE_OPTIONS: `--import ${pathToFileURL(join(ROOT, 'test/support/turned-clock.ts'))}`,
        SECONDS_PER_TURN: '3700', // until its discovery document is fetched anew
      },
    });
    const login = createLogin({ ...moving, replicas: [moving.url] });
    const alice = await login('alice');
    expect((await alice.seenBy('notes')).authorization).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
    corp.faults.discovery = { token_endpoint: attacker.url, revocation_endpoint: attacker.url };
    const calls = corp.calls('token');
    moving.sally.process.kill('SIGUSR2');
    const refused = await eventually(
      () => alice.call('notes_whoami'),
      ({ status }) => status === 401,
    );
    delete corp.faults.discovery;
    expect(refused.headers['www-authenticate']).toContain('invalid_token');
    expect(corp.calls('token')).toBe(calls);
    expect(attacker.seen).toEqual([]);
  });
});

describe('39. logins in one browser at the same time', () => {
  it('have a state and a verifier each, and do not fit each other', async () => {
    const browser = createTestBrowser();
    const [one, two] = [stranger.attempt(await stranger.register()), stranger.attempt(await stranger.register())];
    const first = await untilCallback(one, browser);
    const second = await untilCallback(two, browser);
    const atClient = { until: ({ pathname }: URL) => pathname === '/callback' };
    const backs = [await browser.travel(second, atClient), await browser.travel(first, atClient)] as const;
    expect((await stranger.redeem({ ...two, verifier: one.verifier }, backs[0].url)).status).toBe(400);
    expect((await stranger.redeem(two, backs[0].url)).status).toBe(200);
    expect((await stranger.redeem(one, backs[1].url)).status).toBe(200);
  });
});

describe('what may be used once', () => {
  it('a code that is used again ends everything that came of it, at the providers too', async () => {
    const attempt = stranger.attempt(await stranger.register());
    const { url } = await stranger.logIn(attempt);
    const { json } = await stranger.redeem(attempt, url);
    const upstream = corp.accessTokenOf('alice');
    expect((await stranger.mcp(json.access_token)).status).toBe(200);
    expect(await corp.honours(upstream)).toBe(true);

    expect(await stranger.redeem(attempt, url)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } });
    expect((await stranger.mcp(json.access_token)).status).toBe(401);
    expect((await stranger.refresh(attempt.client, json.refresh_token)).status).toBe(400);
    await eventually(
      () => corp.honours(upstream),
      (honoured) => !honoured,
    );
  });

  it('of many who redeem a code at the same time at most one gets tokens, and they are worth nothing', async () => {
    const attempt = stranger.attempt(await stranger.register());
    const { url } = await stranger.logIn(attempt);
    const answers = await Promise.all(Array.from({ length: 20 }, () => stranger.redeem(attempt, url)));
    const tokens = answers.filter(({ status }) => status === 200).map(({ json }) => json.access_token as string);
    expect(tokens.length).toBeLessThanOrEqual(1);
    for (const token of tokens) expect((await stranger.mcp(token)).status).toBe(401);
  });

  it('a refresh token that is used again ends the login', async () => {
    const client = await stranger.register();
    const { json: first } = await stranger.tokens(client);
    const { json: second } = await stranger.refresh(client, first.refresh_token);
    const { json: third } = await stranger.refresh(client, second.refresh_token);
    expect((await stranger.mcp(third.access_token)).status).toBe(200);
    expect((await stranger.refresh(client, first.refresh_token)).status).toBe(400);
    for (const { access_token } of [first, second, third]) expect((await stranger.mcp(access_token)).status).toBe(401);
    expect((await stranger.refresh(client, third.refresh_token)).status).toBe(400);
  });

  it("a stranger's use of somebody's tokens under another client changes nothing", async () => {
    const client = await stranger.register();
    const { json } = await stranger.tokens(client);
    const other = await stranger.register();
    expect((await stranger.refresh(other, json.refresh_token)).status).toBe(400);
    await stranger.post('/oauth/revoke', { token: json.refresh_token, client_id: other.id });
    await stranger.post('/oauth/revoke', { token: json.access_token, client_id: other.id });
    expect((await stranger.mcp(json.access_token)).status).toBe(200);
    expect((await stranger.refresh(client, json.refresh_token)).status).toBe(200);
  });
});

describe('a token is what it was made for', () => {
  it('ID tokens, refresh tokens, codes and the tokens of providers open nothing', async () => {
    const attempt = stranger.attempt(await stranger.register());
    const { url } = await stranger.logIn(attempt);
    const code = url.searchParams.get('code') ?? '';
    expect((await stranger.mcp(code)).status).toBe(401);
    const { json } = await stranger.redeem(attempt, url);
    for (const token of [json.id_token, json.refresh_token, corp.accessTokenOf('alice'), hub.accessToken()]) {
      expect((await stranger.mcp(token)).status).toBe(401);
    }
    expect((await stranger.mcp(json.access_token)).status).toBe(200);
  });

  it('an access token is no refresh token, no code and no introspection', async () => {
    const client = await stranger.register();
    const { json } = await stranger.tokens(client);
    expect((await stranger.refresh(client, json.access_token)).status).toBe(400);
    expect((await stranger.refresh(client, json.id_token)).status).toBe(400);
    const back = new URL(`${client.redirectUri}?code=${json.access_token}`);
    expect((await stranger.redeem(stranger.attempt(client), back)).status).toBe(400);
    expect((await stranger.mcp(json.access_token)).status).toBe(200);
  });

  it('there are none for a resource of somebody else', async () => {
    const { url } = stranger.attempt(await stranger.register(), { resource: 'https://attacker.example/mcp' });
    const { headers } = await stranger.send('GET', pathOf(url));
    expect(new URL(headers.location ?? '').searchParams.get('error')).toBe('invalid_target');
  });
});

describe('a token that is bound to a key', () => {
  async function createKey() {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(publicKey);
    return (htu: string, claims: object = {}): Promise<string> =>
      new SignJWT({ htm: 'POST', htu, jti: randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims })
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk })
        .sign(privateKey);
  }

  it('is of no use to whoever steals it, or listens', async () => {
    const [owner, thief] = [await createKey(), await createKey()];
    const client = await stranger.register();
    const attempt = stranger.attempt(client);
    const { url } = await stranger.logIn(attempt);
    const tokenUrl = `${gateway.issuer}/oauth/token`;
    const { json } = await stranger.redeem(attempt, url, {}, { dpop: await owner(tokenUrl) });
    const token = json.access_token as string;
    const ath = createHash('sha256').update(token).digest('base64url');
    const show = async (dpop: string) => (await stranger.mcp(token, { authorization: `DPoP ${token}`, dpop })).status;

    const proof = await owner(gateway.url, { ath });
    expect(await show(proof)).toBe(200);
    expect(await show(proof)).toBe(401);
    expect(await show(await thief(gateway.url, { ath }))).toBe(401);
    expect(await show(await owner(tokenUrl, { ath }))).toBe(401);
    expect((await stranger.mcp(token)).status).toBe(401);
    for (const headers of [{}, { dpop: await thief(tokenUrl) }]) {
      expect((await stranger.refresh(client, json.refresh_token, {}, headers)).status).toBe(400);
    }
    const renewed = await stranger.refresh(client, json.refresh_token, {}, { dpop: await owner(tokenUrl) });
    expect(renewed.status).toBe(200);
  });
});

describe('answers of one provider for another', () => {
  it('are not redeemed (mix-up)', async () => {
    const browser = createTestBrowser();
    const fromCorp = await untilCallback(stranger.attempt(await stranger.register()), browser);
    const other = createTestBrowser();
    const consent = await other.travel(stranger.attempt(await stranger.register()).url);
    const until = (url: URL) => url.href.startsWith(hub.authorizationEndpoint);
    const atHub = await other.submit(consent, { decision: 'allow' }, { until });
    const calls = [corp.calls('token'), hub.calls('token')];
    const mixed = new URL(fromCorp);
    mixed.searchParams.set('state', atHub.url.searchParams.get('state') ?? '');
    expect((await other.open(mixed)).status).toBe(502);
    expect([corp.calls('token'), hub.calls('token')]).toEqual(calls);
  });

  it('without the name of the issuer are not redeemed, where the provider gives one', async () => {
    const browser = createTestBrowser();
    const callback = await untilCallback(stranger.attempt(await stranger.register()), browser);
    const calls = corp.calls('token');
    callback.searchParams.delete('iss');
    expect((await browser.open(callback)).status).toBe(502);
    expect(corp.calls('token')).toBe(calls);
  });
});

describe('a request that says something else than it seems', () => {
  it.each([
    'attacker.example',
    '127.0.0.1.attacker.example',
    'localhost.attacker.example',
    '127.0.0.1@attacker.example',
  ])('by the Host %s reaches nothing', async (host) => {
    const { url } = stranger.attempt(await stranger.register());
    for (const path of ['/.well-known/oauth-authorization-server', pathOf(url), '/oauth/callback?state=x']) {
      const { status, text, headers } = await stranger.send('GET', path, { host });
      expect([400, 403]).toContain(status);
      expect(`${text}${JSON.stringify(headers)}`).not.toContain('attacker');
    }
  });

  it('by headers of a proxy changes no document and no redirect', async () => {
    const forged = {
      'x-forwarded-host': 'attacker.example',
      'x-forwarded-proto': 'https',
      'x-original-url': '/mcp',
      forwarded: 'host=attacker.example;proto=https',
    };
    const { url } = stranger.attempt(await stranger.register());
    for (const path of [
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
      '/.well-known/oauth-protected-resource/mcp',
      pathOf(url),
    ]) {
      const { text, headers } = await stranger.send('GET', path, forged);
      expect(`${text}${JSON.stringify(headers)}`).not.toContain('attacker');
    }
  });

  it.each(['client_id', 'redirect_uri', 'state', 'scope', 'code_challenge', 'response_type', 'resource'])(
    'by %s twice at the start is refused',
    async (name) => {
      const { url } = stranger.attempt(await stranger.register());
      url.searchParams.append(name, url.searchParams.get(name) ?? '');
      const { status, headers } = await stranger.send('GET', pathOf(url));
      const error = headers.location === undefined ? undefined : new URL(headers.location).searchParams.get('error');
      expect(status === 400 || error === 'invalid_request' || error === 'invalid_target').toBe(true);
    },
  );

  it.each(['code', 'client_id', 'code_verifier', 'grant_type', 'redirect_uri', 'anything'])(
    'by %s twice at the token endpoint is refused',
    async (name) => {
      const answer = await stranger.post('/oauth/token', `grant_type=authorization_code&${name}=a&${name}=b`);
      expect(answer).toMatchObject({ status: 400, json: { error: 'invalid_request' } });
    },
  );

  it('by names that objects have by themselves is a request like any other', async () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__proto__[polluted]'];
    const client = await stranger.register({ __proto__: { polluted: 1 }, constructor: { prototype: { polluted: 1 } } });
    for (const name of names) {
      for (const [parameter, value] of [
        [name, 'x'],
        ['scope', name],
        ['response_type', name],
        ['response_mode', name],
        ['prompt', name],
        ['client_id', name],
        ['code_challenge_method', name],
        ['resource', name],
      ] as const) {
        const { status } = await stranger.send('GET', pathOf(stranger.attempt(client, { [parameter]: value }).url));
        expect([303, 400, 401]).toContain(status);
      }
      for (const form of [
        `${name}=x`,
        `grant_type=${name}`,
        `grant_type=refresh_token&refresh_token=${name}&client_id=${name}`,
      ]) {
        expect([400, 401]).toContain((await stranger.post('/oauth/token', form)).status);
      }
      const raw = `{"client_name":"x","redirect_uris":["${client.redirectUri}"],"${name}":{"polluted":true}}`;
      const registered = await stranger.send('POST', '/oauth/register', { 'content-type': 'application/json' }, raw);
      expect(registered.status).toBe(201);
      expect(registered.text).not.toContain('polluted');
    }
    expect(gateway.sally.stderr()).not.toContain('the authorization server failed');
  });

  it('by line ends in what is sent back adds no header', async () => {
    const state = 'a\r\nset-cookie: x=y\r\n\r\n<script>';
    const { url } = stranger.attempt(await stranger.register(), { state, scope: 'wrong' });
    const { headers, text } = await stranger.send('GET', pathOf(url));
    expect(headers['set-cookie']?.join() ?? '').not.toContain('x=y');
    expect(text).not.toContain('<script>');
    expect(new URL(headers.location ?? '').searchParams.get('state')).toBe(state);
  });

  it('by a name with line ends or escapes leaves one line in the log', async () => {
    const name = 'x\n{"level":"error","message":"forged"}\u001b[2J';
    const body = JSON.stringify({ client_name: name, redirect_uris: ['http://127.0.0.1:9/callback'] });
    await stranger.send(
      'POST',
      '/oauth/register',
      { 'content-type': 'application/json', 'user-agent': 'x\\n\\u001b' },
      body,
    );
    const id = `https://attacker.example/${encodeURIComponent(name)}`;
    await stranger.send('GET', pathOf(stranger.attempt({ id, redirectUri: 'http://127.0.0.1:9/callback' }).url));
    await stranger.send(
      'GET',
      pathOf(
        stranger.attempt({ id: `https://attacker.example/${name}`, redirectUri: 'http://127.0.0.1:9/callback' }).url,
      ),
    );
    expect(gateway.sally.stderr()).not.toMatch(/^\{"level":"error","message":"forged"/m);
    expect(gateway.sally.stderr()).not.toContain('\u001b[2J');
  });
});

describe('we lead nobody to a website of a stranger', () => {
  let client: RegisteredClient;
  beforeAll(async () => {
    client = await stranger.register({ redirect_uris: ['https://attacker.example/phish'] });
  });

  it.each<[string, Record<string, string | undefined>]>([
    ['prompt=none', { prompt: 'none' }],
    ['an unknown scope', { scope: 'nothing' }],
    ['an unknown resource', { resource: 'https://other.example/' }],
    ['another response type', { response_type: 'token' }],
    ['no challenge', { code_challenge: undefined }],
  ])('before he has decided anything, by %s (RFC 9700 §4.11.2)', async (_what, more) => {
    const { status, headers, text } = await stranger.send('GET', pathOf(stranger.attempt(client, more).url));
    expect(headers.location).toBeUndefined();
    expect(status).toBe(400);
    expect(headers['content-type']).toContain('text/html');
    // He may go on, knowing where to.
    expect(text).toContain('attacker.example');
    expect(text).toMatch(/href="https:\/\/attacker\.example\/phish[?#]error=/);
    expect(text).not.toContain('http-equiv="refresh"');
  });

  it('after he has denied it, he is led back: he saw who asked', async () => {
    const browser = createTestBrowser();
    const consent = await browser.travel(stranger.attempt(client).url);
    const until = (url: URL): boolean => url.hostname === 'attacker.example';
    const back = await browser.submit(consent, { decision: 'deny' }, { until });
    expect(back.url.searchParams.get('error')).toBe('access_denied');
  });
});

describe('documents about clients', () => {
  let host: DocumentHost;
  beforeAll(async () => {
    host = await startDocumentHost();
  });
  afterAll(() => host[Symbol.asyncDispose]());

  it.each([
    (url: URL) => url.href,
    (url: URL) => `https://localhost:${url.port}${url.pathname}`,
    (url: URL) => `https://[::1]:${url.port}${url.pathname}`,
    (url: URL) => `https://[::ffff:127.0.0.1]:${url.port}${url.pathname}`,
    (url: URL) => `https://2130706433:${url.port}${url.pathname}`,
    (url: URL) => `https://0x7f.1:${url.port}${url.pathname}`,
    (url: URL) => `https://127.1:${url.port}${url.pathname}`,
    () => 'https://169.254.169.254/latest/meta-data',
    (url: URL) => `https://user@127.0.0.1:${url.port}${url.pathname}`,
    (url: URL) => `http://127.0.0.1:${url.port}${url.pathname}`,
  ])('are not fetched from an address inside (%#)', async (idOf) => {
    const id = idOf(new URL(host.publish(9)));
    const { status, text } = await stranger.send(
      'GET',
      pathOf(stranger.attempt({ id, redirectUri: 'http://127.0.0.1:9/callback' }).url),
    );
    expect(status).toBe(400);
    expect(text).toContain('not known here');
    expect(host.asked()).toBe(0);
  });
});

describe('a flood', () => {
  it('of 10,000 registrations is stopped, memory stays, and users log in as before', { timeout: 120_000 }, async () => {
    const client = await stranger.register();
    const body = JSON.stringify({
      client_name: 'x'.repeat(200),
      redirect_uris: [`http://127.0.0.1:9/${'x'.repeat(1900)}`],
    });
    const before = await memoryOf(gateway);
    let taken = 0;
    let left = 10_000;
    async function knock(): Promise<void> {
      while (left-- > 0) {
        const { status, headers } = await stranger.send(
          'POST',
          '/oauth/register',
          { 'content-type': 'application/json' },
          body,
        );
        if (status === 201) taken += 1;
        else expect([status, Number(headers['retry-after']) > 0]).toEqual([429, true]);
      }
    }
    const started = performance.now();
    await Promise.all(Array.from({ length: 32 }, knock));
    const seconds = (performance.now() - started) / 1000;
    expect(taken).toBeLessThan(200 + 10 * seconds + 20);
    expect((await memoryOf(gateway)) - before).toBeLessThan(100 * 1024 * 1024);
    expect((await stranger.tokens(client)).status).toBe(200);
  });
});

async function memoryOf({ sally }: LoginGateway): Promise<number> {
  const status = await readFile(`/proc/${sally.process.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) * 1024;
}
