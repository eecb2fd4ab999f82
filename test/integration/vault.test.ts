import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Boundaries, startBoundaries } from '../support/boundaries.ts';
import { type Caller, outcomeOf } from '../support/caller.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { eventually } from '../support/processes.ts';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.ts';

/** How long tokens of the providers last here, in seconds. */
const SHORT = 2;
const PAGES = { elicitation: { url: {} } };

let corp: IdentityProvider;
let hub: IdentityProvider;
let notes: RecordingServer;
let code: RecordingServer;
let gate: Boundaries;

async function start(options: { readonly optional?: readonly string[]; readonly ttl?: number }): Promise<void> {
  const { ttl = 300 } = options;
  [corp, hub, notes, code] = await Promise.all([
    startIdentityProvider({ name: 'corp', accessTokenTtl: ttl }),
    startIdentityProvider({ name: 'hub' }),
    startRecordingServer({ era: 'modern' }),
    startRecordingServer(),
  ]);
  gate = await startBoundaries({
    providers: { corp, hub },
    backends: {
      notes: { server: notes, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'corp' } } },
      code: { server: code, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'hub' } } },
    },
    ...(options.optional ? { optional: options.optional } : {}),
  });
}

async function stop(): Promise<void> {
  for (const one of [gate, notes, code, corp, hub]) await one?.[Symbol.asyncDispose]();
}

/** What a provider does when an administrator ends a user's access: all tokens are worth nothing. */
async function endAt(provider: IdentityProvider, user: string): Promise<void> {
  const { id, secret } = provider.client;
  const authorization = `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`;
  const body = new URLSearchParams({ token: provider.refreshTokenOf(user) ?? '' });
  const answer = await fetch(`${provider.issuer}/revoke`, { method: 'POST', headers: { authorization }, body });
  expect(answer.status).toBe(200);
}

/** A client of 2025-11-25, in a session. */
async function openSession(caller: Caller, capabilities: object): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-11-25', capabilities, clientInfo: { name: 'test', version: '1' } };
  const { headers } = await caller.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params });
  return { 'mcp-session-id': String(headers['mcp-session-id']), 'mcp-protocol-version': '2025-11-25' };
}

const callOf = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });

describe('a token that ends', () => {
  beforeAll(() => start({ ttl: SHORT }));
  afterAll(stop);
  beforeEach(() => {
    notes.admits = async ({ authorization = '' }) => (await corp.userOf(authorization.slice(7))) !== undefined;
  });
  afterEach(() => {
    for (const { faults } of [corp, hub])
      for (const fault of Object.keys(faults)) Reflect.deleteProperty(faults, fault);
  });

  it('is renewed once for all calls that come at that moment', async () => {
    const alice = await gate.login('alice');
    const first = (await alice.seenBy('notes')).authorization;
    await sleep(SHORT * 1000);
    const asked = corp.calls('token');
    const seen = await Promise.all(Array.from({ length: 40 }, () => alice.seenBy('notes')));
    expect(corp.calls('token')).toBe(asked + 1);
    expect(new Set(seen.map(({ authorization }) => authorization)).size).toBe(1);
    expect(seen[0]?.authorization).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
    expect(seen[0]?.authorization).not.toBe(first);
  });

  it('before its time is renewed when the backend refuses it, and the call succeeds', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('code');
    const old = hub.accessTokenOf('alice');
    code.admits = ({ authorization }) => authorization !== `Bearer ${old}`;
    const seen = await Promise.all(Array.from({ length: 10 }, () => alice.seenBy('code')));
    expect(new Set(seen.map(({ authorization }) => authorization))).toEqual(
      new Set([`Bearer ${hub.accessTokenOf('alice')}`]),
    );
    expect(hub.accessTokenOf('alice')).not.toBe(old);
    code.admits = () => true;
  });

  it('is not renewed over and over for a backend that refuses every token', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('code');
    code.admits = () => false;
    const asked = hub.calls('token');
    for (let call = 0; call < 5; call++) {
      const { status, json } = await alice.call('code_whoami');
      expect([status, json.error.data.code]).toEqual([200, 'backend.refused']);
    }
    expect(hub.calls('token')).toBe(asked + 1);
    code.admits = () => true;
  });

  it('while its provider is away costs 503 where it is needed, and nothing elsewhere or for good', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('notes');
    await alice.seenBy('code');
    await sleep(SHORT * 1000);
    corp.faults.down = true;
    const refused = await alice.call('notes_whoami');
    expect(refused.status).toBe(503);
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
    expect(refused.json.error).toMatchObject({ code: 5033, data: { code: 'outgoing.unavailable', provider: 'corp' } });
    expect((await alice.seenBy('code')).authorization).toBe(`Bearer ${hub.accessTokenOf('alice')}`);
    corp.faults.down = false;
    await sleep(3_000);
    expect((await alice.seenBy('notes')).authorization).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
  });

  it('for good makes a login needed where it is used, with a challenge, and nothing elsewhere', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('notes');
    await endAt(corp, 'alice');
    await sleep(SHORT * 1000);
    const refused = await alice.call('notes_whoami');
    expect(refused.status).toBe(401);
    expect(refused.headers['www-authenticate']).toContain('error="invalid_token"');
    expect(refused.headers['www-authenticate']).toContain(
      `resource_metadata="${gate.issuer}/.well-known/oauth-protected-resource/mcp"`,
    );
    expect(refused.json.error.data).toMatchObject({ code: 'outgoing.login_needed', provider: 'corp' });
    expect((await alice.seenBy('code')).authorization).toBe(`Bearer ${hub.accessTokenOf('alice')}`);
    // What a client does with the challenge.
    const again = await gate.login('alice');
    expect((await again.seenBy('notes')).authorization).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
  });

  it('makes a login needed for clients without a session and with one, of every era', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('notes');
    const session = await openSession(alice, {});
    await endAt(corp, 'alice');
    await sleep(SHORT * 1000);
    expect((await alice.post(callOf('notes_whoami'), session)).status).toBe(401);
    expect((await alice.post(callOf('notes_whoami'), { 'mcp-protocol-version': '2025-06-18' })).status).toBe(401);
  });
});

describe('a provider that a login left out', () => {
  beforeAll(() => start({ optional: ['hub'] }));
  afterAll(stop);

  it('is told in lists, with a tool that connects it in place of the tools that need it', async () => {
    const alice = await gate.login('alice');
    expect(hub.authorizations).toHaveLength(0);
    const { result } = (await alice.request('tools/list')).json;
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(['notes_whoami', 'connect_code']);
    expect(result._meta['dev.sallyport/backends']).toMatchObject({
      notes: { state: 'ok' },
      code: { state: 'needs_login', provider: 'hub' },
    });
  });

  it('is connected on a page by a client that shows pages when an error says so (2025-11-25)', async () => {
    const alice = await gate.login('alice');
    const session = await openSession(alice, PAGES);
    const { status, json } = await alice.post(callOf('connect_code'), session);
    expect([status, json.error.code]).toEqual([200, -32042]);
    const [elicitation] = json.error.data.elicitations;
    expect(elicitation).toMatchObject({ mode: 'url', elicitationId: expect.any(String) });
    expect((await alice.visit(elicitation.url)).body).toContain('hub connected');
    const again = await alice.post(callOf('connect_code'), session);
    expect(again.json.result.content[0].text).toContain('code is connected');
    expect((await alice.seenBy('code')).authorization).toBe(`Bearer ${hub.accessTokenOf('alice')}`);
    const { result } = (await alice.request('tools/list')).json;
    expect(result.tools.map(({ name }: { name: string }) => name)).toEqual(['code_whoami', 'notes_whoami']);
  });

  it('is connected within the call by a client that can be asked (2026-07-28)', async () => {
    const alice = await gate.login('alice');
    const asked = (await alice.call('connect_code', { capabilities: PAGES })).json.result;
    expect(asked.resultType).toBe('input_required');
    const [[key, question]] = Object.entries(asked.inputRequests) as [[string, { params: { url: string } }]];
    const { requestState } = asked;
    const inputResponses = { [key]: { action: 'accept' } };
    // The client says yes when it opens the page; the user needs his time there.
    const continued = alice.call('connect_code', { capabilities: PAGES, params: { requestState, inputResponses } });
    await sleep(500);
    await alice.visit(question.params.url);
    expect((await continued).json.result.content[0].text).toContain('code is connected');
    expect((await alice.seenBy('code')).authorization).toBe(`Bearer ${hub.accessTokenOf('alice')}`);
  });

  it('is connected by a link for a client that can do neither, and never asked for with a challenge', async () => {
    const alice = await gate.login('alice');
    const { status, json } = await alice.call('connect_code');
    expect([status, json.error.data.code]).toEqual([200, 'outgoing.account_needed']);
    expect(json.error.message).toContain(json.error.data.url);
    await alice.visit(json.error.data.url);
    expect((await alice.seenBy('code')).authorization).toBe(`Bearer ${hub.accessTokenOf('alice')}`);
  });

  it('is not connected by somebody else who opens the link', async () => {
    const alice = await gate.login('alice');
    const bob = await gate.login('bob');
    const { url } = (await alice.call('connect_code')).json.error.data;
    expect((await bob.visit(url)).body).toContain('This is for another user');
    expect((await alice.call('connect_code')).json.error.data.code).toBe('outgoing.account_needed');
  });

  it('is connected for one login only', async () => {
    const alice = await gate.login('alice');
    await alice.visit((await alice.call('connect_code')).json.error.data.url);
    await alice.seenBy('code');
    const elsewhere = await gate.login('alice');
    expect((await elsewhere.call('connect_code')).json.error.data.code).toBe('outgoing.account_needed');
  });
});

describe('a login that is ended', () => {
  beforeAll(() => start({}));
  afterAll(stop);

  const atProviders = async (tokens: readonly [IdentityProvider, string][]) =>
    await Promise.all(tokens.map(([provider, token]) => provider.honours(token)));

  it('by its client opens nothing any more, and its tokens are given back to the providers', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('notes');
    const tokens = [corp, hub].flatMap((provider): [IdentityProvider, string][] => [
      [provider, provider.accessTokenOf('alice')],
      [provider, provider.refreshTokenOf('alice') ?? ''],
    ]);
    expect(await atProviders(tokens)).toEqual([true, true, true, true]);
    expect((await alice.revoke()).status).toBe(200);
    expect((await alice.call('notes_whoami')).status).toBe(401);
    await eventually(
      () => atProviders(tokens),
      (honoured) => !honoured.includes(true),
    );
  });

  it('because a refresh token was used twice, opens nothing any more, and its tokens are given back', async () => {
    const alice = await gate.login('alice');
    const token = corp.refreshTokenOf('alice') ?? '';
    const next = await alice.refreshed();
    await next.refreshed();
    // Whoever stole the first one tries it now.
    await expect(alice.refreshed()).rejects.toThrow(/invalid_grant/);
    expect((await next.call('notes_whoami')).status).toBe(401);
    await eventually(
      () => corp.honours(token),
      (honoured) => !honoured,
    );
  });

  it('ends no other login of the same user', async () => {
    const one = await gate.login('alice');
    const other = await gate.login('alice');
    await one.revoke();
    expect(outcomeOf(await other.call('notes_whoami'))).toBe('ok');
  });
});
