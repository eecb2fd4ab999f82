import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { startAuthServer, type TestAuthServer, type TestClient } from '../../support/auth-server.ts';

async function codeFor(server: TestAuthServer, client: TestClient, more: Record<string, string> = {}): Promise<string> {
  return (await server.authorize(client, more)).searchParams.get('code') ?? '';
}

const grantOf = (accessToken: string) => String(decodeJwt(accessToken).tsid);

describe('redeeming a code', () => {
  it('answers that must not be kept say so, and any web page may read them', async () => {
    await using server = await startAuthServer();
    const { headers } = await server.tokens(await server.register());
    expect(headers).toMatchObject({
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
    });
    expect(headers).not.toHaveProperty('access-control-allow-credentials');
    expect(headers).not.toHaveProperty('set-cookie');
  });

  it('a second use ends the login, and the token of the first use is dead at once', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const code = await codeFor(server, client);
    const first = await server.redeem(client, code);
    const grant = grantOf(first.json.access_token);
    expect(server.core.tokens.isLive(grant)).toBe(true);

    const second = await server.redeem(client, code);
    expect([second.status, second.json.error]).toEqual([400, 'invalid_grant']);
    expect(server.core.tokens.isLive(grant)).toBe(false);
    expect((await server.refresh(client, first.json.refresh_token)).json.error).toBe('invalid_grant');
    expect(server.logged.map(({ message }) => message)).toEqual(
      expect.arrayContaining(['token.issued', 'token.reuse_detected', 'grant.revoked']),
    );
  });

  it('of two uses at the same time at most one gets tokens, and they are dead', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const code = await codeFor(server, client);
    const answers = await Promise.all([server.redeem(client, code), server.redeem(client, code)]);
    const [good] = answers.filter(({ status }) => status === 200);
    expect(answers.filter(({ status }) => status === 400)).toHaveLength(good ? 1 : 2);
    if (good) expect(server.core.tokens.isLive(grantOf(good.json.access_token))).toBe(false);
  });

  it.each([
    ['another verifier', { code_verifier: 'x'.repeat(43) }],
    ['no verifier', { code_verifier: '' }],
    ['another redirect address', { redirect_uri: 'http://127.0.0.1:9998/callback' }],
    ['no redirect address', { redirect_uri: '' }],
    ['another resource', { resource: 'https://elsewhere.example/mcp' }],
    ['a code that is none', { code: 'abc' }],
  ])('fails with %s', async (_name, more) => {
    await using server = await startAuthServer();
    const client = await server.register();
    const { status, json } = await server.redeem(client, await codeFor(server, client), more);
    expect(status).toBe(400);
    expect(json.access_token).toBeUndefined();
  });

  it('a client cannot redeem the code of another', async () => {
    await using server = await startAuthServer();
    const [mine, yours] = [await server.register(), await server.register()];
    const code = await codeFor(server, mine);
    expect((await server.redeem(yours, code)).json.error).toBe('invalid_grant');
    expect((await server.redeem(mine, code)).status).toBe(200);
  });

  it('a wrong verifier does not use the code up, nor end the login', async () => {
    await using server = await startAuthServer();
    const client = await server.register();
    const code = await codeFor(server, client);
    await server.redeem(client, code, { code_verifier: 'x'.repeat(43) });
    expect((await server.redeem(client, code)).status).toBe(200);
  });
});

describe('the request', () => {
  it.each(['code', 'client_id', 'grant_type', 'resource', 'code_verifier', 'anything'])(
    'is refused when %s is there twice',
    async (name) => {
      await using server = await startAuthServer();
      const client = await server.register();
      const form = new URLSearchParams({ grant_type: 'authorization_code', ...client, [name]: 'a' });
      form.append(name, 'b');
      const { status, json } = await server.post('/oauth/token', form.toString());
      expect([status, json]).toEqual([
        400,
        { error: 'invalid_request', error_description: expect.stringContaining(name) },
      ]);
    },
  );

  it('is a form of at most 64 KiB', async () => {
    await using server = await startAuthServer();
    const large = await server.post('/oauth/token', `grant_type=${'x'.repeat(70_000)}`);
    expect([large.status, large.json.error]).toEqual([413, 'invalid_request']);
    const chunked = { 'transfer-encoding': 'chunked' };
    const undeclared = await server.post('/oauth/token', `grant_type=${'x'.repeat(70_000)}`, chunked);
    expect([undeclared.status, undeclared.json.error]).toEqual([413, 'invalid_request']);
    const type = { 'content-type': 'application/json' };
    const json = await server.post('/oauth/token', '{"grant_type":"refresh_token"}', type);
    expect([json.status, json.json.error]).toEqual([400, 'invalid_request']);
  });

  it.each([
    ['client_credentials', 'unsupported_grant_type'],
    ['password', 'unsupported_grant_type'],
    ['implicit', 'unsupported_grant_type'],
    ['urn:ietf:params:oauth:grant-type:device_code', 'unsupported_grant_type'],
    ['', 'invalid_request'],
  ])('cannot be for the grant %j', async (grant_type, error) => {
    await using server = await startAuthServer();
    const { client_id } = await server.register();
    const { status, json } = await server.post('/oauth/token', { grant_type, client_id });
    expect([status, json.error]).toEqual([400, error]);
  });

  it('an unknown client is 401', async () => {
    await using server = await startAuthServer();
    const { status, json } = await server.refresh({ client_id: 'unknown', redirect_uri: '' }, 'x');
    expect([status, json.error]).toEqual([401, 'invalid_client']);
  });

  it.each(['GET', 'PUT', 'DELETE'])('%s is refused', async (method) => {
    await using server = await startAuthServer();
    const { status, headers } = await server.send(method, '/oauth/token', {});
    expect([status, headers.allow]).toEqual([405, 'POST']);
  });

  it('errors are JSON even for a browser', async () => {
    await using server = await startAuthServer();
    const answer = await server.post('/oauth/token', {}, { accept: 'text/html' });
    expect(answer.headers['content-type']).toContain('application/json');
  });
});

describe('the resource of a token', () => {
  const resources = ['https://one.example/mcp', 'https://two.example'] as const;

  it('is the first when the client names none', async () => {
    await using server = await startAuthServer({ plan: { resources } });
    const { json } = await server.tokens(await server.register());
    expect(decodeJwt(json.access_token).aud).toBe(resources[0]);
  });

  it('is the one of the authorization, also when the token request does not repeat it', async () => {
    await using server = await startAuthServer({ plan: { resources } });
    const { json } = await server.tokens(await server.register(), { resource: resources[1] });
    expect(decodeJwt(json.access_token).aud).toBe(resources[1]);
  });

  it('may be repeated, and not changed, by code and by refresh token', async () => {
    await using server = await startAuthServer({ plan: { resources } });
    const client = await server.register();
    const code = await codeFor(server, client, { resource: resources[0] });
    expect((await server.redeem(client, code, { resource: resources[1] })).json.error).toBe('invalid_target');
    const again = await codeFor(server, client, { resource: resources[0] });
    const { json } = await server.redeem(client, again, { resource: resources[0] });
    const refreshed = await server.refresh(client, json.refresh_token, { resource: resources[0] });
    expect(decodeJwt(refreshed.json.access_token).aud).toBe(resources[0]);
    const changed = await server.refresh(client, refreshed.json.refresh_token, { resource: resources[1] });
    expect(changed.json.error).toBe('invalid_target');
  });

  it('without a path is the same with a slash, as clients write it', async () => {
    await using server = await startAuthServer({ plan: { resources } });
    const client = await server.register();
    const code = await codeFor(server, client, { resource: `${resources[1]}/` });
    const { json } = await server.redeem(client, code, { resource: `${resources[1]}/` });
    expect(decodeJwt(json.access_token).aud).toBe(resources[1]);
    const refused = await server.authorize(client, { resource: `${resources[0]}/` });
    expect(refused.searchParams.get('error')).toBe('invalid_target');
  });
});

it('a login has an end, for its tokens too', async () => {
  const lifespans = { accessToken: 3600, refreshToken: 7200, login: 1800, authCode: 60 };
  await using server = await startAuthServer({ plan: { lifespans } });
  const { json } = await server.tokens(await server.register());
  expect(json.expires_in).toBeLessThanOrEqual(1800);
  const { exp = 0, iat = 0 } = decodeJwt(json.access_token);
  expect(exp - iat).toBeLessThanOrEqual(1800);
});
