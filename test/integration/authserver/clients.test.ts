import type { Adapter, AdapterPayload } from 'oidc-provider';
import { describe, expect, it } from 'vitest';
import { Secret } from '../../../src/base/index.ts';
import { REDIRECT, startAuthServer, type TestAuthServer, VERIFIER } from '../../support/auth-server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };

const register = (server: TestAuthServer, metadata: unknown, headers: Record<string, string> = JSON_TYPE) =>
  server.post('/oauth/register', typeof metadata === 'string' ? metadata : JSON.stringify(metadata), headers);

describe('a client that registers itself', () => {
  it('is told what was registered, and no more', async () => {
    await using server = await startAuthServer();
    const { status, json, headers } = await register(server, {
      client_name: 'Inspector',
      redirect_uris: ['http://localhost/callback', 'https://inspector.example/callback'],
      scope: 'openid tools',
      token_endpoint_auth_method: 'none',
      application_type: 'web',
      logo_uri: 'https://evil.example/logo.png',
      jwks_uri: 'http://169.254.169.254/',
    });
    expect(status).toBe(201);
    expect(json).toEqual({
      client_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      client_id_issued_at: expect.any(Number),
      client_name: 'Inspector',
      redirect_uris: ['http://localhost/callback', 'https://inspector.example/callback'],
      application_type: 'native',
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      scope: 'openid tools offline_access',
    });
    expect(headers['cache-control']).toBe('no-store');
    expect(server.logged).toContainEqual(expect.objectContaining({ message: 'client.registered', name: 'Inspector' }));
  });

  it.each([
    ['a scheme that a browser runs', { redirect_uris: ['javascript:alert(1)'] }, 'invalid_redirect_uri'],
    ['no address', {}, 'invalid_redirect_uri'],
    [
      'a secret',
      { redirect_uris: [REDIRECT], token_endpoint_auth_method: 'client_secret_post' },
      'invalid_client_metadata',
    ],
    ['a list', [], 'invalid_client_metadata'],
    ['half a document', '{"redirect_uris":', 'invalid_client_metadata'],
  ])('with %s is refused', async (_name, metadata, error) => {
    await using server = await startAuthServer();
    const { status, json, headers } = await register(server, metadata);
    expect([status, json.error]).toEqual([400, error]);
    expect(headers['cache-control']).toBe('no-store');
  });

  it('has to speak JSON, and briefly', async () => {
    await using server = await startAuthServer();
    expect((await register(server, 'redirect_uris=x', {})).status).toBe(400);
    expect((await register(server, 'x'.repeat(70_000))).status).toBe(413);
  });

  it('can choose neither its id nor what the library would take from it', async () => {
    await using server = await startAuthServer();
    const metadata = { redirect_uris: [REDIRECT], client_id: 'chosen', client_secret: 'x', client_id_issued_at: 1 };
    const { json } = await register(server, metadata);
    expect(json.client_id).not.toBe('chosen');
    expect(json).not.toHaveProperty('client_secret');
    expect(json.client_id_issued_at).toBeGreaterThan(1);
  });

  it('cannot look itself up, change or remove itself', async () => {
    await using server = await startAuthServer();
    const { client_id } = await server.register();
    for (const method of ['GET', 'PUT', 'DELETE']) {
      expect((await server.send(method, `/oauth/register/${client_id}`, {})).status).toBe(404);
    }
  });

  it('10,000 of them stay within bounds, and do not push out one that is in use', async () => {
    await using server = await startAuthServer();
    const used = await server.register();
    const { json } = await server.tokens(used);
    const first = await server.register();
    // Most of the way behind the endpoint, which would take a minute, and the last part through it.
    const { adapter } = server.login.provider.Client as unknown as { adapter: Adapter };
    const metadata = await adapter.find(first.client_id);
    for (let n = 0; n < 9_900; n++) await adapter.upsert(`flood ${n}`, metadata as AdapterPayload);
    let last = first;
    for (let n = 0; n < 200; n++) last = await server.register();

    const { rows, bytes } = server.memory.store.report();
    expect(rows).toBeLessThan(10_100);
    expect(bytes).toBeLessThan(20 * 1024 * 1024);
    expect((await server.refresh(used, json.refresh_token)).status).toBe(200);
    expect((await server.tokens(last)).status).toBe(200);
    const { pathname, search } = server.authorizeUrl(first);
    expect((await server.get(`${pathname}${search}`)).text).toContain('This app is not known here');
  });
});

describe('a client that the operator configured', () => {
  const secret = 'a secret of the client, with : and % and +';
  const clients = [
    { id: 'desk', name: 'Desk', redirectUris: [REDIRECT, 'myapp://callback'] },
    { id: 'web', name: 'Web', redirectUris: ['https://web.example/cb'], secret: new Secret(secret) },
  ];
  const registration = { dynamic: false, metadataDocuments: false, metadataHosts: [], redirectSchemes: ['myapp'] };
  const basic = (id: string, password: string) => ({
    authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(password)}`).toString('base64')}`,
  });

  it('needs no registration', async () => {
    await using server = await startAuthServer({ plan: { clients, registration } });
    for (const redirect_uri of [REDIRECT, 'myapp://callback', 'http://127.0.0.1:1/callback']) {
      expect((await server.tokens({ client_id: 'desk', redirect_uri })).status).toBe(200);
    }
  });

  it('is told of a mistake by a redirect, on a website too; one that registered itself is not', async () => {
    await using server = await startAuthServer({
      plan: { clients, registration: { ...registration, dynamic: true } },
    });
    const redirect_uri = 'https://web.example/cb';
    const registered = await server.register({ redirect_uris: [redirect_uri] });
    const ask = async (client: { client_id: string; redirect_uri: string }) => {
      const { pathname, search } = server.authorizeUrl(client, { scope: 'nothing' });
      return await server.get(`${pathname}${search}`);
    };
    const { status, headers } = await ask({ client_id: 'web', redirect_uri });
    expect([status, headers.location?.startsWith(`${redirect_uri}?error=invalid_scope`)]).toEqual([303, true]);
    expect((await ask(registered)).status).toBe(400);
  });

  it.each(['basic', 'post'])('with a secret shows it by %s, or gets nothing', async (way) => {
    await using server = await startAuthServer({ plan: { clients, registration } });
    const client = { client_id: 'web', redirect_uri: 'https://web.example/cb' };
    const redeem = async (password?: string) => {
      const { redirect_uri } = client;
      const code = (await server.authorize(client)).searchParams.get('code') ?? '';
      const form = { grant_type: 'authorization_code', code, redirect_uri, code_verifier: VERIFIER };
      if (password === undefined) return await server.post('/oauth/token', { ...form, client_id: 'web' });
      if (way === 'basic') return await server.post('/oauth/token', form, basic('web', password));
      return await server.post('/oauth/token', { ...form, client_id: 'web', client_secret: password });
    };
    expect((await redeem(secret)).status).toBe(200);
    expect((await redeem('wrong')).json).toMatchObject({ error: 'invalid_client' });
    expect((await redeem()).json).toMatchObject({ error: 'invalid_client' });
  });

  it.each(['javascript:alert(1)', 'unknown://cb', 'http://web.example/cb'])(
    'with the address %s is an error of the configuration',
    async (uri) => {
      const bad = [{ id: 'bad', name: 'Bad', redirectUris: [uri] }];
      await expect(startAuthServer({ plan: { clients: bad } })).rejects.toMatchObject({ code: 'config.invalid' });
    },
  );
});
