import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  Client,
  discoverOAuthProtectedResourceMetadata,
  extractWWWAuthenticateParams,
  StreamableHTTPClientTransport,
} from '@modelcontextprotocol/client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { post, send } from '../security/support/wire.ts';
import { type Certificate, makeCertificate } from '../support/certificate.ts';
import { type HttpMcpServer, startHttpMcpServer } from '../support/http-mcp-server.ts';
import { groupYaml } from '../support/mcp-servers.ts';
import { type RunningSally, sally, startSally, type TempFolder, tempFolder } from '../support/sally.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';

/** Each flag of boundary 1, and what it changes for a caller. */

const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const AUDIENCE = 'api://desk';

let issuer: TokenIssuer;
let secure: TokenIssuer;
let certificate: Certificate;
let backend: HttpMcpServer;
let folder: TempFolder;
beforeAll(async () => {
  certificate = await makeCertificate();
  [issuer, secure, backend, folder] = await Promise.all([
    startTokenIssuer({ audience: AUDIENCE }),
    startTokenIssuer({ audience: AUDIENCE, tls: certificate }),
    startHttpMcpServer(),
    tempFolder(),
  ]);
  await writeFile(join(folder.path, 'ca.pem'), certificate.cert);
  await writeFile(join(folder.path, 'token'), 'for-the-issuer\n');
  await writeFile(join(folder.path, 'secret'), 'hush\n');
});
afterAll(async () => {
  await Promise.all([issuer, secure, backend, folder].map((one) => one[Symbol.asyncDispose]()));
});
beforeEach(() => {
  issuer.seen.length = 0;
  issuer.document = {};
  issuer.client = '';
});

async function run(flags: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunningSally> {
  return await startSally(['run', '-f', ...flags, backend.url], { env: { SALLYPORT_HOME: folder.path, ...env } });
}

const base = (): string[] => ['--oidc-issuer', issuer.url, '--oidc-audience', AUDIENCE, '--jwks-allow-private-ip'];
const endpointOf = ({ endpoints }: RunningSally): URL => new URL(endpoints[0]?.url ?? '');

async function statusWith(running: RunningSally, token: string): Promise<number> {
  return (await post(endpointOf(running), PING, { authorization: `Bearer ${token}` })).status;
}

async function metadataOf(running: RunningSally, headers = {}): Promise<Record<string, unknown>> {
  const path = '/.well-known/oauth-protected-resource/mcp';
  return JSON.parse((await send(endpointOf(running), { method: 'GET', path, headers })).body);
}

describe('sally run', () => {
  it('--oidc-issuer, --oidc-audience: asks for tokens, and says where they come from', async () => {
    await using running = await run(base());
    const url = endpointOf(running);
    const answer = await post(url, PING);
    expect(answer).toMatchObject({ status: 401 });
    const place = `http://${url.host}/.well-known/oauth-protected-resource/mcp`;
    expect(answer.headers['www-authenticate']).toBe(`Bearer resource_metadata="${place}", scope="openid"`);
    expect(await statusWith(running, await issuer.token())).toBe(200);
    expect(await statusWith(running, await issuer.token({ aud: 'api://other' }))).toBe(401);
    expect(await metadataOf(running)).toEqual({
      resource: url.href,
      authorization_servers: [issuer.url],
      scopes_supported: ['openid'],
      bearer_methods_supported: ['header'],
      dpop_signing_alg_values_supported: expect.arrayContaining(['ES256']),
      resource_name: expect.any(String),
    });
  });

  it('the official client finds its way by the challenge, and through the gate with a token', async () => {
    await using running = await run(base());
    const url = endpointOf(running);
    const refusal = await fetch(url, { method: 'POST', body: '{}' });
    const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(refusal);
    expect(scope).toBe('openid');
    const options = resourceMetadataUrl === undefined ? {} : { resourceMetadataUrl };
    const metadata = await discoverOAuthProtectedResourceMetadata(url, options);
    expect(metadata).toMatchObject({ resource: url.href, authorization_servers: [issuer.url] });

    const headers = { authorization: `Bearer ${await issuer.token()}` };
    const client = new Client({ name: 'test', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
    expect(await client.callTool({ name: 'say', arguments: { text: 'hello' } })).toMatchObject({
      content: [{ text: 'hello' }],
    });
    await client.close();
  });

  it('an endpoint that asks for tokens may face the network', async () => {
    await using running = await run([...base(), '--host', '0.0.0.0']);
    expect(running.endpoints).toHaveLength(1);
  });

  it('--jwks-allow-private-ip: without it the issuer on this machine is out of reach', async () => {
    await using running = await run(['--oidc-issuer', issuer.url, '--oidc-audience', AUDIENCE]);
    expect(await statusWith(running, await issuer.token())).toBe(503);
    expect(running.stderr()).toContain('--jwks-allow-private-ip');
  });

  it('--oidc-jwks-url: keys are read there, and nothing is discovered', async () => {
    await using running = await run([...base(), '--oidc-jwks-url', `${issuer.url}/keys`]);
    expect(await statusWith(running, await issuer.token())).toBe(200);
    expect(issuer.seen.map(({ path }) => path)).toEqual(['/keys']);
  });

  it('--oidc-client-id, --oidc-client-secret: opaque tokens are asked about where the issuer says', async () => {
    issuer.client = 'desk:hush';
    issuer.opaque.set('opaque', { active: true, sub: 'alice', aud: AUDIENCE });
    await using running = await run([...base(), '--oidc-client-id', 'desk', '--oidc-client-secret', 'hush']);
    expect(await statusWith(running, 'opaque')).toBe(200);
    expect(await statusWith(running, 'unknown')).toBe(401);
    expect(running.stderr()).not.toContain('hush');
  });

  it.each<[string, string[], Record<string, string>]>([
    ['--oidc-client-secret-file', ['--oidc-client-secret-file', 'secret'], {}],
    ['SALLYPORT_OIDC_CLIENT_SECRET', [], { SALLYPORT_OIDC_CLIENT_SECRET: 'hush' }],
  ])('%s: holds the same secret', async (_flag, [flag, file], env) => {
    issuer.client = 'desk:hush';
    const secret = flag === undefined || file === undefined ? [] : [flag, join(folder.path, file)];
    await using running = await run([...base(), '--oidc-client-id', 'desk', ...secret], env);
    expect(await statusWith(running, 'opaque')).toBe(200);
  });

  it('--oidc-introspection-url: opaque tokens are asked about there', async () => {
    await using running = await run([...base(), '--oidc-introspection-url', `${issuer.url}/introspect`]);
    expect(await statusWith(running, 'opaque')).toBe(200);
    expect(issuer.seen.map(({ path }) => path)).toEqual(['/introspect']);
  });

  it('--oidc-scopes: are told to clients, all but the one for refresh tokens', async () => {
    await using running = await run([...base(), '--oidc-scopes', 'read,write', '--oidc-scopes', 'offline_access']);
    expect(await metadataOf(running)).toMatchObject({ scopes_supported: ['read', 'write'] });
    expect((await post(endpointOf(running), PING)).headers['www-authenticate']).toContain('scope="read write"');
  });

  it('--oidc-required-scopes: a token without them is not enough', async () => {
    await using running = await run([...base(), '--oidc-required-scopes', 'read,write']);
    const little = { authorization: `Bearer ${await issuer.token({ scope: 'read' })}` };
    const answer = await post(endpointOf(running), PING, little);
    expect(answer).toMatchObject({ status: 403 });
    expect(answer.headers['www-authenticate']).toMatch(/scope="read write", error="insufficient_scope"/);
    expect(await statusWith(running, await issuer.token({ scope: 'write read' }))).toBe(200);
  });

  it('--oidc-insecure-allow-http: an issuer without encryption must be insisted on', async () => {
    const plain = issuer.url.replace('127.0.0.1', '[::ffff:7f00:1]');
    const flags = ['--oidc-issuer', plain, '--oidc-audience', AUDIENCE, '--jwks-allow-private-ip'];
    const refused = await sally(['run', '-f', ...flags, backend.url]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--oidc-insecure-allow-http') });
    issuer.document = { issuer: plain, jwks_uri: `${plain}/keys` };
    await using running = await run([...flags, '--oidc-insecure-allow-http']);
    expect(await statusWith(running, await issuer.token({ iss: plain }))).toBe(200);
  });

  it('--jwks-auth-token-file: its token opens the documents of the issuer', async () => {
    await using running = await run([...base(), '--jwks-auth-token-file', join(folder.path, 'token')]);
    await statusWith(running, await issuer.token());
    expect(issuer.seen.map(({ headers }) => headers.authorization)).toEqual(Array(2).fill('Bearer for-the-issuer'));
  });

  it('--resource-url: is told to clients, and its host is a name of ours', async () => {
    await using running = await run([...base(), '--resource-url', 'https://desk.example.net/tools/mcp']);
    const told = { resource: 'https://desk.example.net/tools/mcp' };
    expect(await metadataOf(running, { host: 'desk.example.net' })).toMatchObject(told);
    const inserted = '/.well-known/oauth-protected-resource/tools/mcp';
    const answer = await send(endpointOf(running), { method: 'GET', path: inserted });
    expect(JSON.parse(answer.body)).toMatchObject(told);
    expect(answer.headers['cache-control']).toBe('public, max-age=300');
    const refusal = await post(endpointOf(running), PING);
    expect(refusal.headers['www-authenticate']).toContain(`resource_metadata="https://desk.example.net${inserted}"`);
  });

  it('--trust-proxy-headers: the proxy says what our URL is, and without it nobody does', async () => {
    const said = { 'x-forwarded-proto': 'https', 'x-forwarded-host': 'desk.example.net', 'x-forwarded-prefix': '/d' };
    const resourceTold = async (flags: readonly string[]) => {
      await using running = await run([...base(), ...flags]);
      return { told: (await metadataOf(running, said)).resource, own: endpointOf(running).href };
    };
    expect(await resourceTold(['--trust-proxy-headers'])).toMatchObject({ told: 'https://desk.example.net/d/mcp' });
    const strict = await resourceTold([]);
    expect(strict.told).toBe(strict.own);
  });

  it.each(['--ca-bundle', '--thv-ca-bundle'])('%s: reaches discovery, keys and introspection', async (flag) => {
    const flags = ['--oidc-issuer', secure.url, '--oidc-audience', AUDIENCE, '--jwks-allow-private-ip'];
    const client = ['--oidc-client-id', 'desk', '--oidc-client-secret', 'hush'];
    secure.opaque.set('opaque', { active: true, sub: 'alice', aud: AUDIENCE });
    await using running = await run([...flags, ...client, flag, join(folder.path, 'ca.pem')]);
    expect(await statusWith(running, await secure.token())).toBe(200);
    expect(await statusWith(running, 'opaque')).toBe(200);
  });

  it.each<[string[], number, string]>([
    [['--oidc-issuer', 'https://login.example.net'], 2, '--oidc-audience'],
    [['--oidc-audience', 'x'], 2, '--oidc-issuer'],
    [['--ca-bundle', '/nowhere.pem'], 2, '/nowhere.pem'],
    [['--oidc-client-secret', 'a', '--oidc-client-secret-file', 'b'], 2, 'cannot be used'],
  ])('%j is refused before anything starts', async (flags, code, words) => {
    expect(await sally(['run', '-f', ...flags, backend.url])).toMatchObject({
      code,
      stderr: expect.stringContaining(words),
    });
  });
});

describe('sally vmcp serve', () => {
  it('--ca-bundle, --trust-proxy-headers: hold for every server of the folder', async () => {
    await using place = await tempFolder();
    const oidc = `{type: oidc, oidcConfig: {type: inline, inline: {issuer: '${secure.url}', audience: '${AUDIENCE}', jwksAllowPrivateIP: true}}}`;
    const yaml = groupYaml([]).replace('{type: anonymous}', oidc);
    await writeFile(join(place.path, 'group.yaml'), yaml);
    const flags = ['--port', '0', '--ca-bundle', join(folder.path, 'ca.pem'), '--trust-proxy-headers'];
    await using running = await startSally(['vmcp', 'serve', '-f', place.path, ...flags]);
    expect(await statusWith(running, await secure.token())).toBe(200);
    expect(await metadataOf(running, { 'x-forwarded-host': 'desk.example.net' })).toMatchObject({
      resource: 'http://desk.example.net/mcp',
    });
  });

  it('a server that asks for tokens may face the network, beside one that does not it may not', async () => {
    await using place = await tempFolder();
    await writeFile(join(place.path, 'group.yaml'), groupYaml([]));
    const refused = await sally(['vmcp', 'serve', '-f', place.path, '--port', '0', '--host', '0.0.0.0']);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--oidc-issuer') });
  });
});
