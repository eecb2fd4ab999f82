import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLog } from '../../src/base/index.ts';
import type { OidcPlan } from '../../src/plan/index.ts';
import { emptyPlan, startGateways } from '../support/gateways.ts';
import { type HttpMcpServer, startHttpMcpServer } from '../support/http-mcp-server.ts';
import { type RunningSally, startSally, type TempFolder, tempFolder } from '../support/sally.ts';
import { createProofMaker, startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';
import { startGate } from './support/gate.ts';
import { entryYaml } from './support/servers.ts';
import { head, messageOf, openSession, post, raw, type Sent, send, textOf } from './support/wire.ts';

const AUDIENCE = 'https://mcp.example.net/mcp';
const PING = { jsonrpc: '2.0', id: 1, method: 'ping' };
const METADATA = 'https://mcp.example.net/.well-known/oauth-protected-resource/mcp';

let issuer: TokenIssuer;
let backend: HttpMcpServer;
let folder: TempFolder;
let sally: RunningSally;
let url: URL;
let alice: string;

function yaml(extra = ''): string {
  return `apiVersion: sallyport.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: test}
spec:
  groupRef: {name: test}
  incomingAuth:
    type: oidc
    oidcConfig:
      type: inline
      inline:
        issuer: ${issuer.url}
        audience: ${AUDIENCE}
        jwksAllowPrivateIP: true
${extra}
---
apiVersion: sallyport.dev/v1alpha1
kind: MCPGroup
metadata: {name: test}
---
${entryYaml('web', backend.url)}`;
}

beforeAll(async () => {
  [issuer, backend, folder] = await Promise.all([
    startTokenIssuer({ audience: AUDIENCE }),
    startHttpMcpServer(),
    tempFolder(),
  ]);
  await writeFile(join(folder.path, 'gateway.yaml'), yaml());
  sally = await startSally(['vmcp', 'serve', '-f', folder.path, '--port', '0']);
  url = new URL(sally.endpoints[0]?.url ?? '');
  alice = await issuer.token();
});
afterAll(async () => {
  await sally.stop('SIGTERM');
  await Promise.all([issuer, backend, folder].map((one) => one[Symbol.asyncDispose]()));
});

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const ping = (headers: Sent['headers'] = {}) => post(url, PING, headers);

describe('the challenge', () => {
  it('says where to get a token, and of no error when none was shown', async () => {
    const answer = await ping();
    expect(answer).toMatchObject({ status: 401 });
    expect(answer.headers['www-authenticate']).toBe(`Bearer resource_metadata="${METADATA}", scope="openid"`);
    expect(messageOf(answer).error).toMatchObject({ code: 4010, data: { code: 'incoming.token_missing' } });
  });

  it.each([
    ['an expired token', { exp: 1_000 }],
    ['a token of somebody else', { iss: 'https://evil.example' }],
    ['a token for somebody else', { aud: 'https://other.example/mcp' }],
  ])('is the same for %s, and does not say what was wrong', async (_what, claims) => {
    const answer = await ping(bearer(await issuer.token(claims)));
    expect(answer).toMatchObject({ status: 401 });
    expect(answer.headers['www-authenticate']).toBe(
      `Bearer resource_metadata="${METADATA}", scope="openid", error="invalid_token", error_description="the token is expired, revoked or not meant for this server"`,
    );
  });

  it('comes before the body is looked at', async () => {
    const answer = await raw(url, `${head(url, { 'Content-Length': '9999999999' })}`);
    expect(answer).toMatch(/^HTTP\/1\.1 401 /);
  });
});

describe('the token', () => {
  it('opens the gate, and goes no further', async () => {
    const session = await openSession(url, {}, bearer(alice));
    const call = {
      jsonrpc: '2.0',
      id: 2,
      method: 'tools/call',
      params: { name: 'web_say', arguments: { text: 'hi' } },
    };
    expect(textOf(await post(url, call, { ...bearer(alice), 'mcp-session-id': session }))).toBe('hi');
    expect(backend.seen.length).toBeGreaterThan(0);
    for (const headers of backend.seen) expect(JSON.stringify(headers)).not.toContain(alice);
    expect(sally.stderr()).not.toContain(alice);
  });

  it('is asked for with every request, also within a session', async () => {
    const session = await openSession(url, {}, bearer(alice));
    expect(await ping({ 'mcp-session-id': session })).toMatchObject({ status: 401 });
    for (const method of ['GET', 'DELETE'])
      expect(await send(url, { method, headers: { 'mcp-session-id': session } })).toMatchObject({ status: 401 });
  });

  it('10. of another user does not open a stolen session, and the owner keeps it', async () => {
    const session = await openSession(url, {}, bearer(alice));
    const strangers = [
      await issuer.token({ sub: 'mallory' }),
      await issuer.token({ client_id: 'other' }),
      await issuer.token({ client_id: undefined }),
    ];
    for (const stranger of strangers) {
      const headers = { ...bearer(stranger), 'mcp-session-id': session };
      expect(await ping(headers)).toMatchObject({ status: 404 });
      expect(await send(url, { method: 'DELETE', headers })).toMatchObject({ status: 404 });
      expect(await send(url, { method: 'GET', headers: { ...headers, accept: 'text/event-stream' } })).toMatchObject({
        status: 404,
      });
    }
    const renewed = await issuer.token({ jti: 'renewed' });
    expect(await ping({ ...bearer(renewed), 'mcp-session-id': session })).toMatchObject({ status: 200 });
  });

  it('ends the streams that it opened when it ends itself', async () => {
    // Clocks may differ by a minute, so this one has two seconds left.
    const short = bearer(await issuer.token({ exp: Math.floor(Date.now() / 1000) - 58 }));
    const session = await openSession(url, {}, short);
    const began = Date.now();
    const headers = { ...short, 'mcp-session-id': session, accept: 'text/event-stream' };
    expect(await send(url, { method: 'GET', headers })).toMatchObject({ status: 200 });
    expect(Date.now() - began).toBeLessThan(5_000);
  });

  it.each([
    ['twice', () => head(url, { Authorization: `Bearer ${alice}\r\nAuthorization: Bearer ${alice}` })],
    ['beside a wrong one', () => head(url, { Authorization: `Bearer x\r\nauthorization: Bearer ${alice}` })],
    ['in a list', () => head(url, { Authorization: `Bearer ${alice}, Bearer x` })],
    ['in quotes', () => head(url, { Authorization: `Bearer "${alice}"` })],
  ])('%s is malformed', async (_what, bytes) => {
    expect(await raw(url, `${bytes()}`)).toMatch(/^HTTP\/1\.1 400 /);
  });

  it.each([
    ['in the query', () => ({ path: `/mcp?access_token=${alice}` })],
    ['as another scheme', () => ({ headers: { authorization: `Token ${alice}` } })],
    ['as Basic', () => ({ headers: { authorization: `Basic ${Buffer.from(`x:${alice}`).toString('base64')}` } })],
    ['in a cookie', () => ({ headers: { cookie: `access_token=${alice}` } })],
  ])('%s does not count', async (_what, sent) => {
    expect(await send(url, { body: JSON.stringify(PING), ...sent() })).toMatchObject({ status: 401 });
  });
});

describe('35. nothing else makes a caller', () => {
  it.each([
    { 'x-forwarded-user': 'alice' },
    { 'x-forwarded-email': 'alice@example.net' },
    { x_forwarded_user: 'alice' },
    { 'x-forwarded-access-token': 'x' },
    { 'x-auth-request-user': 'alice' },
    { 'x-forwarded-uri': '/health' },
    { 'x-original-url': '/health' },
    { 'x-rewrite-url': '/health' },
    { 'x-http-method-override': 'OPTIONS' },
    { 'user-agent': 'kube-probe/1.30' },
    { 'user-agent': 'GoogleHC/1.0' },
    { 'x-forwarded-for': '127.0.0.1' },
    { 'x-real-ip': '127.0.0.1' },
    { proxy_authorization: 'Bearer x' },
    { 'proxy-authorization': 'Bearer x' },
  ])('%j', async (headers) => {
    expect(await ping(headers)).toMatchObject({ status: 401 });
  });

  it('a header with an underscore is not the one with a dash', async () => {
    const session = await openSession(url, {}, bearer(alice));
    const end = (headers: Sent['headers'] = {}) =>
      send(url, { method: 'DELETE', headers: { ...bearer(alice), ...headers } });
    expect(await end({ mcp_session_id: session })).toMatchObject({ status: 400 });
    expect(await end({ 'mcp-session-id': session })).toMatchObject({ status: 204 });
  });
});

describe('26. a wrong credential never becomes a lesser one', () => {
  it('an anonymous endpoint says that it cannot check it', async () => {
    await using open = await startGate({ web: { web: backend.url } });
    const place = open.url;
    const initialize = {
      ...PING,
      method: 'initialize',
      params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '1' } },
    };
    expect(await post(place, initialize)).toMatchObject({ status: 200 });
    for (const authorization of ['Bearer x', 'Basic eDp5', 'nonsense', `Bearer ${alice}`]) {
      const answer = await post(place, initialize, { authorization });
      expect(answer).toMatchObject({ status: 401 });
      expect(messageOf(answer).error).toMatchObject({ data: { code: 'incoming.token_unexpected' } });
      expect(answer.headers['www-authenticate']).toMatch(/^Bearer error="invalid_request"/);
    }
  });
});

describe('a token that is bound to a key', () => {
  const htu = AUDIENCE;
  const setup = async () => {
    const maker = await createProofMaker();
    const token = await issuer.token({ cnf: { jkt: maker.thumbprint } });
    const knock = (proof: string | undefined, shown = token) =>
      ping({ authorization: `DPoP ${shown}`, ...(proof === undefined ? {} : { dpop: proof }) });
    return { maker, token, knock };
  };

  it('is good with a proof, once for each', async () => {
    const { maker, token, knock } = await setup();
    const proof = await maker.prove({ htm: 'POST', htu, token });
    expect(await knock(proof)).toMatchObject({ status: 200 });
    expect(await knock(proof)).toMatchObject({ status: 401 });
    expect(await knock(await maker.prove({ htm: 'POST', htu, token }))).toMatchObject({ status: 200 });
  });

  it('is refused as a plain bearer token, and the challenge says what to do', async () => {
    const { token } = await setup();
    const answer = await ping(bearer(token));
    expect(answer).toMatchObject({ status: 401 });
    expect(answer.headers['www-authenticate']).toMatch(/^DPoP .*algs="[^"]*ES256[^"]*", Bearer /);
  });

  it('is refused without a proof, with that of another key, for another request or address', async () => {
    const { maker, token, knock } = await setup();
    const other = await createProofMaker();
    for (const proof of [
      undefined,
      'x',
      await other.prove({ htm: 'POST', htu, token }),
      await maker.prove({ htm: 'GET', htu, token }),
      await maker.prove({ htm: 'POST', htu: 'https://evil.example/mcp', token }),
      await maker.prove({ htm: 'POST', htu, token: alice }),
      `${await maker.prove({ htm: 'POST', htu, token })}, ${await maker.prove({ htm: 'POST', htu, token })}`,
    ]) {
      expect(await knock(proof)).toMatchObject({ status: 401 });
    }
  });

  it('a token that is bound to no key gains nothing by a proof', async () => {
    const { maker, knock } = await setup();
    expect(await knock(await maker.prove({ htm: 'POST', htu, token: alice }), alice)).toMatchObject({ status: 401 });
  });
});

describe('while the issuer is down', () => {
  it('known keys go on, also after a reload', async () => {
    expect(await ping(bearer(await issuer.token({ jti: 'before' })))).toMatchObject({ status: 200 });
    issuer.mood = 'down';
    try {
      await writeFile(join(folder.path, 'more.yaml'), entryYaml('more', backend.url));
      await sally.next('reloaded');
      expect(await ping(bearer(await issuer.token({ jti: 'after' })))).toMatchObject({ status: 200 });
    } finally {
      issuer.mood = 'well';
    }
  });

  it('an endpoint that never reached it says 503 with a time, never 401', async () => {
    const lines: string[] = [];
    const log = createLog({
      level: 'info',
      format: 'text',
      write: (line) => void lines.push(line),
      now: () => new Date(),
    });
    await using silent = await startTokenIssuer({ audience: AUDIENCE });
    silent.mood = 'down';
    const incoming: OidcPlan = {
      kind: 'oidc',
      issuer: silent.url,
      audience: AUDIENCE,
      scopes: ['openid'],
      requiredScopes: [],
      addresses: 'private',
      allowHttp: false,
    };
    await using fresh = await startGateways([emptyPlan('fresh', incoming)], { log });
    const answer = await post(new URL('/mcp', fresh.url), PING, bearer(await silent.token()));
    expect(answer).toMatchObject({ status: 503 });
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.headers['www-authenticate']).toBeUndefined();
    expect(answer.body).not.toContain(silent.url);
    expect(lines.join('')).toContain('tokens cannot be checked');
  });
});

it('thousands of wrong tokens leave the log short and the gate open', async () => {
  const before = sally.stderr().length;
  const wrong = await issuer.token({ aud: 'https://other.example' });
  await Promise.all(
    Array.from({ length: 1_000 }, (_, index) => ping(bearer(`${wrong.slice(0, -6)}${100_000 + index}`))),
  );
  expect(sally.stderr().length - before).toBeLessThan(2_000);
  expect(await ping(bearer(await issuer.token({ jti: 'still open' })))).toMatchObject({ status: 200 });
});
