import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { Secret, silentLog } from '../../src/base/index.ts';
import { createUpstream, type Upstream, type UpstreamSettings } from '../../src/oauth/upstream/index.ts';
import { createTestBrowser } from '../support/cookie-jar.ts';
import {
  type IdentityProvider,
  type IdentityProviderOptions,
  startIdentityProvider,
} from '../support/identity-provider.ts';
import { type OAuth2Provider, type OAuth2ProviderOptions, startOAuth2Provider } from '../support/oauth2-provider.ts';

const CALLBACK = 'http://127.0.0.1:1/oauth/callback';

type Overrides = Partial<UpstreamSettings> & { readonly now?: () => number };

function upstreamOf(settings: UpstreamSettings, now = Date.now): Upstream & AsyncDisposable {
  const upstream = createUpstream(settings, { log: silentLog, now });
  return { ...upstream, [Symbol.asyncDispose]: () => upstream.close() };
}

function oidc(idp: IdentityProvider, { now, ...overrides }: Overrides = {}) {
  return upstreamOf(
    {
      name: 'corp',
      clientId: idp.client.id,
      clientAuth: { kind: 'secret', secret: new Secret(idp.client.secret) },
      scopes: ['openid', 'offline_access', 'profile', 'email'],
      offlineIfOffered: false,
      authorizationParams: {},
      addresses: 'private',
      endpoints: { kind: 'oidc', issuer: idp.issuer, subjectClaim: 'sub' },
      ...overrides,
    },
    now,
  );
}

function oauth2(hub: OAuth2Provider, { now, ...overrides }: Overrides = {}) {
  return upstreamOf(
    {
      name: 'hub',
      clientId: hub.client.id,
      clientAuth: { kind: 'secret', secret: new Secret(hub.client.secret) },
      scopes: [],
      offlineIfOffered: false,
      authorizationParams: {},
      addresses: 'private',
      endpoints: {
        kind: 'oauth2',
        authorizationEndpoint: hub.authorizationEndpoint,
        tokenEndpoint: hub.tokenEndpoint,
        userInfo: {
          url: hub.userInfoEndpoint,
          method: 'GET',
          headers: { Accept: 'application/vnd.hub+json' },
          subjectFields: ['sub', 'id'],
          nameFields: ['name'],
          emailFields: ['email'],
        },
      },
      ...overrides,
    },
    now,
  );
}

const startCorp = (options: IdentityProviderOptions = {}) => startIdentityProvider({ user: 'alice', ...options });
const startHub = (options: OAuth2ProviderOptions = {}) => startOAuth2Provider({ automatic: true, ...options });

/** Sends a browser through the provider, and gives what it comes back with. */
async function goThrough(upstream: Upstream, state = 'a-state') {
  const { url, leg } = await upstream.begin(state, CALLBACK);
  const back = await createTestBrowser().travel(url, { until: (next) => next.href.startsWith(CALLBACK) });
  return { callback: back.url.searchParams, leg };
}

async function login(upstream: Upstream) {
  const { callback, leg } = await goThrough(upstream);
  return await upstream.redeem(callback, leg);
}

describe('an OpenID provider', () => {
  it('gives tokens and the user of its ID token', async () => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    expect(corp.status()).toEqual({ name: 'corp', state: 'unknown' });
    const { tokens, identity } = await login(corp);
    expect(identity).toEqual({
      subject: 'alice',
      synthetic: false,
      name: 'Alice Example',
      email: 'alice@example.test',
    });
    expect(tokens.accessToken.reveal()).toBe(idp.accessTokenOf('alice'));
    expect(tokens.source).toEqual({ issuer: idp.issuer, tokenEndpoint: `${idp.issuer}/token` });
    expect(tokens.expiresAt).toBeGreaterThan(Date.now() / 1000 + 200);
    expect(corp.status()).toEqual({ name: 'corp', state: 'ready' });
    expect(idp.calls('userinfo')).toBe(0);
  });

  it('is asked for name and address when its ID tokens lack them', async () => {
    await using idp = await startCorp({ sparseIdTokens: true });
    await using corp = oidc(idp);
    expect((await login(corp)).identity).toMatchObject({ name: 'Alice Example', email: 'alice@example.test' });
  });

  it('is believed an address only when it does not call it unverified', async () => {
    await using idp = await startCorp({
      users: { alice: { name: 'Alice', email: 'admin@example.test', emailVerified: false } },
    });
    await using corp = oidc(idp);
    expect((await login(corp)).identity).toEqual({ subject: 'alice', synthetic: false, name: 'Alice' });
  });

  it.each(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'] as const)(
    'takes %s as our proof',
    async (clientAuth) => {
      await using idp = await startCorp({ clientAuth });
      const proof = {
        client_secret_basic: { kind: 'secret', secret: new Secret(idp.client.secret) },
        client_secret_post: { kind: 'secret', secret: new Secret(idp.client.secret) },
        private_key_jwt: { kind: 'private_key_jwt', key: new Secret(idp.client.privateKey) },
        none: { kind: 'none' },
      } as const;
      await using corp = oidc(idp, { clientAuth: proof[clientAuth] });
      expect((await login(corp)).identity.subject).toBe('alice');
    },
  );

  it.each([
    '{"kty":"EC","d":"s3cret',
    '-----BEGIN PRIVATE KEY-----\ns3cret\n-----END PRIVATE KEY-----',
    '{"kty":"oct","k":"s3cret"}',
  ])('is not configured with a key that cannot be read, and nobody reads it in the error: %#', async (text) => {
    await using idp = await startCorp();
    const start = () => oidc(idp, { clientAuth: { kind: 'private_key_jwt', key: new Secret(text) } });
    expect(start).toThrow(/private key for provider corp/);
    expect(start).not.toThrow(/s3cret/);
  });

  it('gets our parameters whatever the configuration adds', async () => {
    await using idp = await startCorp();
    await using corp = oidc(idp, {
      authorizationParams: { state: 'x', nonce: 'x', response_mode: 'form_post', scope: 'x', access_type: 'offline' },
    });
    const { url, leg } = await corp.begin('the-state', CALLBACK);
    const sent = Object.fromEntries(url.searchParams);
    expect(sent).toMatchObject({
      state: 'the-state',
      nonce: leg.nonce,
      scope: 'openid offline_access profile email',
      access_type: 'offline',
      code_challenge_method: 'S256',
    });
    expect(sent).not.toHaveProperty('response_mode');
  });

  it('is asked for offline access when it says that it knows it, and not otherwise', async () => {
    await using idp = await startCorp();
    const scopeFor = async (scopes_supported: readonly string[]) => {
      idp.faults.discovery = { scopes_supported };
      await using corp = oidc(idp, { scopes: ['openid'], offlineIfOffered: true });
      return (await corp.begin('s', CALLBACK)).url.searchParams.get('scope');
    };
    expect(await scopeFor(['openid', 'offline_access'])).toBe('openid offline_access');
    expect(await scopeFor(['openid'])).toBe('openid');
  });

  it.each([
    ['nonce', { nonce: 'of another login' }],
    ['issuer', { iss: 'https://evil.test' }],
    ['audience', { aud: 'another client' }],
    ['authorized party', { aud: ['sallyport-at-corp', 'other'], azp: 'other' }],
    ['expiry', { exp: 1_000_000 }],
  ])('is not believed an ID token with a wrong %s', async (_what, claims) => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    idp.faults.idToken = (real) => ({ ...real, ...claims });
    await expect(login(corp)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
  });

  it('is not believed an ID token that somebody else signed', async () => {
    await using idp = await startCorp();
    await using other = await startCorp();
    await using corp = oidc(idp);
    idp.faults.discovery = { jwks_uri: `${other.issuer}/keys` };
    await expect(login(corp)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
  });

  it('names its users by the claim that was configured, and by no other', async () => {
    await using idp = await startCorp();
    const endpoints = { kind: 'oidc', issuer: idp.issuer, subjectClaim: 'oid' } as const;
    await using corp = oidc(idp, { endpoints });
    await expect(login(corp)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
    idp.faults.idToken = (claims) => ({ ...claims, oid: 'object 7' });
    expect((await login(corp)).identity.subject).toBe('object 7');
    idp.faults.idToken = (claims) => ({ ...claims, oid: { a: 1 } });
    await expect(login(corp)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
  });

  it.each([[{ iss: 'https://evil.test' }], [{ iss: undefined }]])(
    'has to be the one that answered: %o',
    async (responseIssuer) => {
      await using idp = await startCorp();
      await using corp = oidc(idp);
      idp.faults.responseIssuer = responseIssuer;
      await expect(login(corp)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
      expect(idp.calls('token')).toBe(0);
    },
  );

  it('does not answer for another leg', async () => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    const first = await goThrough(corp, 'first');
    const second = await goThrough(corp, 'second');
    await expect(corp.redeem(first.callback, second.leg)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
    const verifier = { ...first.leg, verifier: second.leg.verifier };
    await expect(corp.redeem(first.callback, verifier)).rejects.toMatchObject({ oauthCode: 'invalid_grant' });
  });

  it('that refuses the user is quoted with its code and not with its words', async () => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    idp.faults.deny = true;
    const refusal = login(corp);
    await expect(refusal).rejects.toMatchObject({ code: 'upstream.refused', oauthCode: 'access_denied' });
    await expect(refusal).rejects.not.toThrow(/<b>/);
  });

  it('that is down is not asked by everybody, and comes back', async () => {
    await using idp = await startCorp();
    let now = Date.now();
    await using corp = oidc(idp, { now: () => now });
    idp.faults.down = true;
    const attempts = Array.from({ length: 5 }, () => corp.begin('s', CALLBACK).catch((error: unknown) => error));
    for (const error of await Promise.all(attempts)) expect(error).toMatchObject({ code: 'upstream.unavailable' });
    await expect(corp.begin('s', CALLBACK)).rejects.toMatchObject({ transient: true });
    const tried = idp.calls('discovery');
    expect(tried).toBeLessThanOrEqual(2); // undici tries a request once more when a connection breaks at once
    expect(corp.status()).toMatchObject({ state: 'unavailable' });
    idp.faults.down = false;
    now += 6_000;
    await corp.begin('s', CALLBACK);
    expect(corp.status()).toEqual({ name: 'corp', state: 'ready' });
  });

  it('stays usable while only its discovery document is away', async () => {
    await using idp = await startCorp();
    let now = Date.now();
    await using corp = oidc(idp, { now: () => now });
    await corp.begin('s', CALLBACK);
    idp.faults.down = true;
    now += 2 * 60 * 60 * 1000;
    await corp.begin('s', CALLBACK);
    expect(corp.status()).toMatchObject({ state: 'unavailable' });
    now += 24 * 60 * 60 * 1000;
    await expect(corp.begin('s', CALLBACK)).rejects.toMatchObject({ code: 'upstream.unavailable' });
  });

  it('has to name itself letter by letter as it was configured', async () => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    idp.faults.discovery = { issuer: `${idp.issuer}/` };
    await expect(corp.begin('s', CALLBACK)).rejects.toMatchObject({
      code: 'upstream.answer_invalid',
      hint: expect.stringContaining('issuerUrl'),
    });
  });

  it.each([
    [{ issuer: 'https://evil.test' }],
    [{ token_endpoint: 'http://corp.test/token' }],
    [{ authorization_endpoint: 'javascript:alert(1)' }],
    [{ jwks_uri: undefined }],
    [{ token_endpoint: 'https://user:password@corp.test/token' }],
  ])('is not used with a discovery document that has %o', async (members) => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    idp.faults.discovery = members;
    await expect(corp.begin('s', CALLBACK)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
  });

  it('at a private address is not contacted unless its owner said so', async () => {
    await using idp = await startCorp();
    await using corp = oidc(idp, { addresses: 'public' });
    await expect(corp.begin('s', CALLBACK)).rejects.toMatchObject({ code: 'upstream.unavailable' });
    expect(idp.calls('discovery')).toBe(0);
  });

  it.each([
    [500, 'upstream.unavailable'],
    [429, 'upstream.unavailable'],
    [404, 'upstream.answer_invalid'],
  ])('whose token endpoint answers %i failed with %s', async (status, code) => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    idp.faults.tokenStatus = status;
    await expect(login(corp)).rejects.toMatchObject({ code });
  });

  it('refreshes, rotates, and says when a refresh token is used up', async () => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    const { tokens, identity } = await login(corp);
    const old = {
      refreshToken: tokens.refreshToken ?? new Secret(''),
      subject: identity.subject,
      scopes: tokens.scopes,
      source: tokens.source,
    };
    const { tokens: fresh, check } = await corp.refresh(old);
    expect((await check?.())?.reveal()).toMatch(/^ey/);
    expect(fresh.accessToken.reveal()).not.toBe(tokens.accessToken.reveal());
    expect(fresh.refreshToken?.reveal()).toBe(idp.refreshTokenOf('alice'));
    await expect(corp.refresh(old)).rejects.toMatchObject({ code: 'upstream.refused', oauthCode: 'invalid_grant' });
  });

  it('gives tokens that end when the provider says, however long its answer was on the way', async () => {
    await using idp = await startCorp();
    const began = Date.now();
    let known = 0;
    // It takes ten seconds from a question to its answer.
    await using corp = oidc(idp, { now: () => began + (idp.calls('token') > known ? 10_000 : 0) });
    const { tokens, identity } = await login(corp);
    expect(tokens.expiresAt).toBe(Math.floor(began / 1000) + 300);
    known = idp.calls('token');
    const { tokens: fresh } = await corp.refresh({
      refreshToken: tokens.refreshToken ?? new Secret(''),
      subject: identity.subject,
      scopes: tokens.scopes,
      source: tokens.source,
    });
    expect(fresh.expiresAt).toBe(Math.floor(began / 1000) + 300);
  });

  it('keeps a rotated refresh token safe when the ID token beside it is about somebody else', async () => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    const { tokens, identity } = await login(corp);
    idp.faults.idToken = (claims) => ({ ...claims, sub: 'mallory' });
    const { tokens: fresh, check } = await corp.refresh({
      refreshToken: tokens.refreshToken ?? new Secret(''),
      subject: identity.subject,
      scopes: tokens.scopes,
      source: tokens.source,
    });
    await expect(check?.()).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
    expect(fresh.refreshToken?.reveal()).toBe(idp.refreshTokenOf('alice'));
    expect(fresh.idToken).toBeUndefined();
  });

  it('gets a refresh token only at the place that issued it (row 38)', async () => {
    await using idp = await startCorp();
    await using evil = await startCorp();
    let now = Date.now();
    await using corp = oidc(idp, { now: () => now });
    const { tokens, identity } = await login(corp);
    idp.faults.discovery = { token_endpoint: `${evil.issuer}/token` };
    now += 2 * 60 * 60 * 1000;
    const moved = corp.refresh({
      refreshToken: tokens.refreshToken ?? new Secret(''),
      subject: identity.subject,
      scopes: tokens.scopes,
      source: tokens.source,
    });
    await expect(moved).rejects.toMatchObject({ code: 'upstream.moved' });
    expect(evil.calls('token')).toBe(0);
  });

  it('revokes a token', async () => {
    await using idp = await startCorp();
    await using corp = oidc(idp);
    const { tokens } = await login(corp);
    const token = tokens.refreshToken ?? new Secret('');
    expect(await idp.honours(token.reveal())).toBe(true);
    expect(await corp.revoke(token, tokens.source)).toBe(true);
    expect(await idp.honours(token.reveal())).toBe(false);
  });
});

describe('a plain OAuth 2 provider', () => {
  it.each(['flat', 'form'] as const)(
    'gives tokens in a %s answer, and the user with every digit of his id',
    async (form) => {
      await using hub = await startHub({ tokenResponse: form });
      await using upstream = oauth2(hub);
      const { tokens, identity } = await login(upstream);
      expect(tokens.accessToken.reveal()).toBe(hub.accessToken());
      expect(identity).toMatchObject({ subject: '9007199254740993', name: 'Octo Example', synthetic: false });
      expect(hub.userInfoHeaders().accept).toBe('application/vnd.hub+json');
      expect(hub.authorizations[0]?.has('nonce')).toBe(false);
      expect(hub.authorizations[0]?.has('scope')).toBe(false);
    },
  );

  it('gives nested tokens by paths', async () => {
    await using hub = await startHub({ tokenResponse: 'nested' });
    const endpoints = {
      kind: 'oauth2',
      authorizationEndpoint: hub.authorizationEndpoint,
      tokenEndpoint: hub.tokenEndpoint,
      tokenResponse: {
        accessToken: 'authed_user.access_token',
        refreshToken: 'authed_user.refresh_token',
        expiresIn: 'authed_user.expires_in',
        scope: 'authed_user.scope',
      },
    } as const;
    await using upstream = oauth2(hub, { endpoints });
    const { tokens, identity } = await login(upstream);
    expect(tokens.accessToken.reveal()).toBe(hub.accessToken());
    expect(tokens.scopes).toEqual(['repo']);
    expect(identity.synthetic).toBe(true);
    expect(identity.subject).toMatch(/^tk-[0-9a-f]{32}$/);
    const { tokens: fresh } = await upstream.refresh({
      refreshToken: tokens.refreshToken ?? new Secret(''),
      subject: identity.subject,
      scopes: tokens.scopes,
      source: tokens.source,
    });
    expect(fresh.accessToken.reveal()).toBe(hub.accessToken());
  });

  it.each([
    ['{"login": "octo"}', 'nobody is named'],
    ['[{"id": 1}]', 'it is a list'],
    ['{"id": true, "sub": {"id": 1}}', 'the name is no text'],
  ])('does not log in somebody without a name: %s', async (userInfo) => {
    await using hub = await startHub();
    await using upstream = oauth2(hub);
    hub.faults.userInfo = userInfo;
    await expect(login(upstream)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
  });

  it('reports an error in a 200 as a refusal', async () => {
    await using hub = await startHub();
    await using upstream = oauth2(hub);
    hub.faults.tokenError = 'incorrect_client_credentials';
    await expect(login(upstream)).rejects.toMatchObject({
      code: 'upstream.refused',
      oauthCode: 'incorrect_client_credentials',
    });
  });

  it('is not handed the code of another provider that names itself', async () => {
    await using hub = await startHub();
    await using upstream = oauth2(hub);
    const { callback, leg } = await goThrough(upstream);
    callback.set('iss', 'https://corp.test');
    await expect(upstream.redeem(callback, leg)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
    expect(hub.calls('token')).toBe(0);
  });

  it('is not followed to another place', async () => {
    await using hub = await startHub();
    let reached = false;
    const elsewhere = createServer((_request, response) => {
      reached = true;
      response.end('{}');
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const redirecting = createServer((_request, response) => {
      const { port } = elsewhere.address() as AddressInfo;
      response.writeHead(307, { location: `http://127.0.0.1:${port}/token` }).end();
    });
    await new Promise<void>((resolve) => redirecting.listen(0, '127.0.0.1', resolve));
    const tokenEndpoint = `http://127.0.0.1:${(redirecting.address() as AddressInfo).port}/token`;
    const endpoints = { kind: 'oauth2', authorizationEndpoint: hub.authorizationEndpoint, tokenEndpoint } as const;
    await using upstream = oauth2(hub, { endpoints });
    await expect(login(upstream)).rejects.toMatchObject({ code: 'upstream.answer_invalid' });
    expect(reached).toBe(false);
    for (const server of [elsewhere, redirecting]) {
      server.closeAllConnections();
      server.close();
    }
  });
});
