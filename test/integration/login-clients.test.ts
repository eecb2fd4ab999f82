import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestBrowser } from '../support/cookie-jar.ts';
import { type DocumentHost, startDocumentHost } from '../support/document-host.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { type InnerGate, startInnerGate } from '../support/inner-gate.ts';
import {
  type LoginClient,
  type LoginClientOptions,
  startMcpRemote,
  startSdkV1,
  startSdkV2,
} from '../support/login-clients.ts';
import { type LoginGateway, startLoginGateway } from '../support/login-gateway.ts';
import { type OAuth2Provider, startOAuth2Provider } from '../support/oauth2-provider.ts';
import { eventually, freePort } from '../support/processes.ts';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.ts';
import { ROOT } from '../support/sally.ts';
import { turnClock } from '../support/turned-clock.ts'; // before everything that looks at the clock

const CLIENTS = [
  { name: 'the SDK v1', start: startSdkV1 },
  { name: 'the SDK v2', start: startSdkV2() },
  { name: 'the SDK v2 without sessions', start: startSdkV2({ versionNegotiation: { mode: { pin: '2026-07-28' } } }) },
  { name: 'mcp-remote', start: startMcpRemote },
] as const;

/** Seconds after which a token of two minutes is certainly refused, and a new ID token of a provider with the right time is not. */
const EXPIRED = 200;

/** A person: agrees on our page, and the providers let him in. */
const browse: LoginClientOptions['browse'] = async (address, isClient) => {
  const browser = createTestBrowser();
  const consent = await browser.travel(address);
  const back = await browser.submit(consent, { decision: 'allow' }, { until: isClient });
  if (back.status !== 0) throw new Error(`the login led to ${back.url} (${back.status}):\n${back.body}`);
  return back.url;
};

describe.each(CLIENTS)('$name', ({ start }) => {
  let corp: IdentityProvider;
  let hub: OAuth2Provider;
  let notes: RecordingServer;
  let code: RecordingServer;
  let gateway: LoginGateway;
  let client: LoginClient;
  beforeAll(async () => {
    [corp, hub, notes, code] = await Promise.all([
      startIdentityProvider({ user: 'alice' }),
      startOAuth2Provider({ automatic: true, tokenResponse: 'nested' }),
      startRecordingServer(),
      startRecordingServer(),
    ]);
    gateway = await startLoginGateway({
      providers: { corp, hub },
      backends: { notes: notes.url, code: code.url },
      tokensOf: { notes: 'corp', code: 'hub' },
      authServer: { tokenLifespans: { accessTokenLifespan: '2m' } },
      env: {
        NODE_OPTIONS: `--import ${pathToFileURL(join(ROOT, 'test/support/turned-clock.ts'))}`,
        SECONDS_PER_TURN: `${EXPIRED}`,
      },
    });
    client = await start({ url: gateway.url, browse, port: await freePort() });
  });
  afterAll(async () => {
    for (const one of [client, gateway, corp, hub, notes, code]) await one[Symbol.asyncDispose]();
  });

  /** What a backend saw of the caller. */
  async function seenBy(backend: string): Promise<string | undefined> {
    return JSON.parse(await client.call(`${backend}_whoami`)).authorization;
  }

  async function statusOf(token: string): Promise<number> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'text/event-stream, application/json',
    };
    const answer = await fetch(gateway.url, { method: 'POST', headers, body });
    await answer.arrayBuffer();
    return answer.status;
  }

  it('finds its way from a 401 to a login at both providers, and calls tools that see their tokens', async () => {
    expect(await seenBy('notes')).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
    expect(await seenBy('code')).toBe(`Bearer ${hub.accessToken()}`);
    expect(client.logins()).toBe(1);
    expect([corp.authorizations.length, hub.authorizations.length]).toEqual([1, 1]);
    expect(gateway.sally.stderr().match(/client\.registered/g)).toHaveLength(1);
  });

  it('renews its token when that has expired, without its user', async () => {
    const before = await client.credentials();
    await seenBy('code');
    expect(await client.credentials()).toEqual(before);
    gateway.sally.process.kill('SIGUSR2');
    await eventually(
      () => statusOf(before.accessToken),
      (status) => status === 401,
    );
    expect(await seenBy('code')).toBe(`Bearer ${hub.accessToken()}`);
    const after = await client.credentials();
    expect(after.accessToken).not.toBe(before.accessToken);
    expect(after.refreshToken).not.toBe(before.refreshToken);
    expect(client.logins()).toBe(1);
  });

  it('sends its user to log in again when the login was ended, and goes on', async () => {
    const before = await client.credentials();
    const ended = await fetch(`${gateway.issuer}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ token: before.refreshToken, client_id: before.clientId }),
    });
    expect(ended.status).toBe(200);
    expect(await statusOf(before.accessToken)).toBe(401);
    expect(await seenBy('notes')).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
    expect(client.logins()).toBe(2);
    expect(corp.authorizations.length).toBe(2);
    // It is known already: there is no second registration.
    expect((await client.credentials()).clientId).toBe(before.clientId);
    expect(gateway.sally.stderr().match(/client\.registered/g)).toHaveLength(1);
  });
});

/**
 * Such a document may only lie at a public address, and a test has none: so the gate runs in here, and is told that this machine
 * will do. Nothing else about it differs.
 */
describe.each(CLIENTS)('$name that is known by a document', ({ start }) => {
  let corp: IdentityProvider;
  let hub: OAuth2Provider;
  let code: RecordingServer;
  let host: DocumentHost;
  let gate: InnerGate;
  beforeAll(async () => {
    [corp, hub, code, host] = await Promise.all([
      startIdentityProvider({ user: 'alice' }),
      startOAuth2Provider({ automatic: true, tokenResponse: 'nested' }),
      startRecordingServer(),
      startDocumentHost(),
    ]);
    gate = await startInnerGate({ corp, hub, code, documentFetch: host.fetch });
  });
  afterAll(async () => {
    for (const one of [gate, host, corp, hub, code]) await one[Symbol.asyncDispose]();
  });

  it('logs in without a registration, renews its token, and logs in again', async () => {
    const port = await freePort();
    const clientMetadataUrl = host.publish(port);
    await using client = await start({ url: gate.url, browse, clientMetadataUrl, port });
    const seen = async () => JSON.parse(await client.call('code_whoami')).authorization;
    expect(await seen()).toBe(`Bearer ${hub.accessToken()}`);
    const first = await client.credentials();
    expect(first.clientId).toBe(clientMetadataUrl);
    expect(gate.logged.join('')).not.toContain('client.registered');
    await seen();
    expect(await client.credentials()).toEqual(first);

    turnClock(EXPIRED);
    expect(await seen()).toBe(`Bearer ${hub.accessToken()}`);
    const second = await client.credentials();
    expect(second.accessToken).not.toBe(first.accessToken);
    expect(client.logins()).toBe(1);

    const form = new URLSearchParams({ token: second.refreshToken, client_id: clientMetadataUrl });
    await fetch(`${gate.issuer}/oauth/revoke`, { method: 'POST', body: form });
    expect(await seen()).toBe(`Bearer ${hub.accessToken()}`);
    expect(client.logins()).toBe(2);
    // Once for the login, and once more after what was fetched had become old.
    expect(host.asked()).toBe(2);
  });
});
