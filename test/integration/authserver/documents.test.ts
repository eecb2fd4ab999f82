import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFetch } from '../../../src/oauth/index.ts';
import { startAuthServer, type TestAuthServer } from '../../support/auth-server.ts';
import { type Certificate, makeCertificate } from '../../support/certificate.ts';

let certificate: Certificate;
beforeAll(async () => {
  certificate = await makeCertificate();
});

type Reply = { status?: number; headers?: Record<string, string>; body?: string };

/** A host of client metadata documents on https, and a server that may ask this machine. */
async function start(reply: (clientId: string) => Reply | object, metadataHosts: readonly string[] = []) {
  const asked: string[] = [];
  const host = createServer({ key: certificate.key, cert: certificate.cert }, (request, response) => {
    asked.push(request.url ?? '');
    const answer = reply(`${origin}${request.url}`);
    const { status = 200, headers = {}, body } = 'body' in answer || 'status' in answer ? (answer as Reply) : {};
    response.writeHead(status, { 'content-type': 'application/json', ...headers });
    response.end(body ?? JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
  const origin = `https://127.0.0.1:${(host.address() as AddressInfo).port}`;
  const documentFetch = createFetch({ range: 'private', ca: certificate.cert, timeout: 1000, maxAnswer: 5 * 1024 });
  const registration = { dynamic: true, metadataDocuments: true, metadataHosts, redirectSchemes: [] };
  const server = await startAuthServer({ plan: { registration }, parts: { documentFetch } });
  return {
    asked,
    origin,
    server,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      host.closeAllConnections();
      host.close();
    },
  };
}

const document = (client_id: string) => ({
  client_id,
  client_name: 'Editor',
  redirect_uris: ['http://127.0.0.1/callback', 'https://editor.example/callback'],
  token_endpoint_auth_method: 'none',
});

const clientAt = (client_id: string) => ({ client_id, redirect_uri: 'http://127.0.0.1:4321/callback' });

async function attempt(server: TestAuthServer, clientId: string) {
  const { pathname, search } = server.authorizeUrl(clientAt(clientId));
  return await server.get(`${pathname}${search}`);
}

describe('a client whose id is the address of a document', () => {
  it('logs in, refreshes, and is asked about once', async () => {
    await using documents = await start(document);
    const { server, origin, asked } = documents;
    const client = clientAt(`${origin}/editor.json`);
    const { json } = await server.tokens(client);
    expect((await server.refresh(client, json.refresh_token)).status).toBe(200);
    expect(asked).toEqual(['/editor.json']);
    expect(server.memory.store.report().rows).toBeLessThan(20);
  });

  it('has what we took over from the document, and nothing else', async () => {
    await using documents = await start((id) => ({
      ...document(id),
      grant_types: ['authorization_code', 'refresh_token', 'password'],
      jwks_uri: 'http://169.254.169.254/latest',
      logo_uri: 'http://evil.example/',
      contacts: 'nobody',
    }));
    const id = `${documents.origin}/editor.json`;
    expect((await documents.server.tokens(clientAt(id))).status).toBe(200);
    const client = await documents.server.login.provider.Client.find(id);
    expect(client?.metadata()).not.toHaveProperty('jwks_uri');
    expect(client?.metadata()).not.toHaveProperty('logo_uri');
    expect(client?.grantTypes).toEqual(['authorization_code', 'refresh_token']);
  });

  it.each<[string, (id: string) => Reply | object]>([
    ['another id inside', (id) => document(`${id}?other`)],
    ['a secret', (id) => ({ ...document(id), client_secret: 'x' })],
    ['an end of a secret', (id) => ({ ...document(id), client_secret_expires_at: 0 })],
    ['authentication by a secret', (id) => ({ ...document(id), token_endpoint_auth_method: 'client_secret_basic' })],
    ['no name', (id) => ({ ...document(id), client_name: undefined })],
    ['a name that hides something', (id) => ({ ...document(id), client_name: 'Editor\u202e' })],
    ['no redirect addresses', (id) => ({ ...document(id), redirect_uris: [] })],
    ['a private scheme', (id) => ({ ...document(id), redirect_uris: ['cursor://callback'] })],
    ['a script', (id) => ({ ...document(id), redirect_uris: ['javascript:alert(1)'] })],
    ['a redirect elsewhere', () => ({ status: 302, headers: { location: 'https://editor.example/' }, body: '' })],
    ['an error', () => ({ status: 404, body: '{}' })],
    ['another type', (id) => ({ headers: { 'content-type': 'text/html' }, body: JSON.stringify(document(id)) })],
    ['no JSON', () => ({ body: '<html>' })],
    ['a list', (id) => ({ body: JSON.stringify([document(id)]) })],
    ['more than 5 KiB', (id) => ({ body: JSON.stringify({ ...document(id), more: 'x'.repeat(6000) }) })],
  ])('is refused with %s', async (_name, reply) => {
    await using documents = await start(reply);
    const answer = await attempt(documents.server, `${documents.origin}/editor.json`);
    expect([answer.status, answer.headers.location]).toEqual([400, undefined]);
    expect(documents.asked).toEqual(['/editor.json']);
  });

  it.each(['', '/', '/a/../b', '/a/%2e%2e/b', '/editor.json#x'])('is not fetched from %j', async (path) => {
    await using documents = await start(document);
    expect((await attempt(documents.server, `${documents.origin}${path}`)).status).toBe(400);
    expect(documents.asked).toEqual([]);
  });

  it('is not fetched with a user name, nor without https', async () => {
    await using documents = await start(document);
    const { host } = new URL(documents.origin);
    for (const id of [`https://user@${host}/x`, `http://${host}/x`, `HTTP://${host}/x`, `ftp://${host}/x`]) {
      expect((await attempt(documents.server, id)).status).toBe(400);
    }
    expect(documents.asked).toEqual([]);
  });

  it('is fetched only from the hosts that the operator named', async () => {
    await using documents = await start(document, ['editor.example']);
    expect((await attempt(documents.server, `${documents.origin}/editor.json`)).status).toBe(400);
    expect(documents.asked).toEqual([]);
    await using allowed = await start(document, ['127.0.0.1']);
    expect((await attempt(allowed.server, `${allowed.origin}/editor.json`)).status).toBe(303);
  });

  it('makes us fetch only so often from one host', async () => {
    await using documents = await start(() => ({ status: 404, body: '{}' }));
    for (let n = 0; n < 30; n++) await attempt(documents.server, `${documents.origin}/${n}.json`);
    expect(documents.asked.length).toBeLessThanOrEqual(12);
  });

  it('is fetched once for many who ask at the same time', async () => {
    await using documents = await start(document);
    const id = `${documents.origin}/editor.json`;
    await Promise.all(Array.from({ length: 8 }, () => attempt(documents.server, id)));
    expect(documents.asked).toHaveLength(1);
  });
});

describe('a client that somebody is logged in with', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });
  /** Until what the library remembers of the document is too old. */
  const later = (seconds = 60) => vi.setSystemTime(Date.now() + seconds * 1000);

  it('stays, although strangers use up what may be fetched', async () => {
    await using documents = await start(document);
    const { server, origin } = documents;
    const client = clientAt(`${origin}/editor.json`);
    const { json } = await server.tokens(client);
    later();
    const flood = Array.from({ length: 130 }, (_, n) => `https://127.0.1.${1 + (n % 13)}:9/${n}.json`);
    for (const id of flood) await attempt(server, id);
    expect((await server.refresh(client, json.refresh_token)).status).toBe(200);
    expect((await attempt(server, client.client_id)).status).toBe(303);
  });

  it.each<[string, Reply]>([
    ['is down', { status: 503, body: '' }],
    ['has no time', { status: 429, body: '' }],
  ])('stays for a day while its host %s', async (_what, reply) => {
    let away = false;
    await using documents = await start((id) => (away ? reply : document(id)));
    const { server, origin } = documents;
    const client = clientAt(`${origin}/editor.json`);
    const first = await server.tokens(client);
    away = true;
    later();
    const second = await server.refresh(client, first.json.refresh_token);
    expect(second.status).toBe(200);
    later(25 * 60 * 60);
    expect((await server.refresh(client, second.json.refresh_token)).json.error).toBe('invalid_client');
  });

  it.each<[string, (id: string) => Reply | object]>([
    ['is gone', () => ({ status: 404, body: '{}' })],
    ['is of somebody else', () => document('https://other.example/editor.json')],
    ['lists addresses that are not allowed', (id) => ({ ...document(id), redirect_uris: ['javascript:alert(1)'] })],
  ])('does not stay when its document %s', async (_what, changed) => {
    let isChanged = false;
    await using documents = await start((id) => (isChanged ? changed(id) : document(id)));
    const { server, origin } = documents;
    const client = clientAt(`${origin}/editor.json`);
    const { json } = await server.tokens(client);
    isChanged = true;
    later();
    expect((await server.refresh(client, json.refresh_token)).json.error).toBe('invalid_client');
  });
});

describe('the address guard', () => {
  it.each([
    '127.0.0.1',
    'localhost',
    '[::1]',
    '169.254.169.254',
    '10.0.0.1',
    '192.168.1.1',
    '[::ffff:127.0.0.1]',
    '0x7f.1',
  ])('does not let a stranger have https://%s asked', async (host) => {
    let reached = false;
    const service = createServer({ key: certificate.key, cert: certificate.cert }, (_request, response) => {
      reached = true;
      response.end('{}');
    });
    await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
    const { port } = service.address() as AddressInfo;
    await using server = await startAuthServer();
    const answer = await attempt(server, `https://${host}:${port}/client.json`);
    service.close();
    expect([answer.status, reached]).toEqual([400, false]);
    expect(server.logged.map((line) => JSON.stringify(line)).join()).toMatch(/not allowed|not found|client/i);
  });
});
