import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { META, MODERN_REVISION } from '../../src/mcp/index.ts';
import { type Boundaries, startBoundaries } from '../support/boundaries.ts';
import { type Caller, outcomeOf } from '../support/caller.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { freePort } from '../support/processes.ts';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.ts';
import { type RedisSentinels, startSentinels } from '../support/redis.ts';
import { storageOf } from '../support/redis-storage.ts';

/** How long tokens of the first provider last here, in seconds: longer than all calls of a round take. */
const SHORT = 4;
const ROUNDS = 2;
const CALLS = 200;

let redis: RedisSentinels;
let corp: IdentityProvider;
let hub: IdentityProvider;
let notes: RecordingServer;
let code: RecordingServer;
let gate: Boundaries;

beforeAll(async () => {
  [redis, corp, hub, notes, code] = await Promise.all([
    startSentinels(),
    startIdentityProvider({ name: 'corp', accessTokenTtl: SHORT }),
    startIdentityProvider({ name: 'hub' }),
    startRecordingServer({ era: 'modern' }),
    startRecordingServer(),
  ]);
  // A token that has ended is refused, as a real backend does.
  notes.admits = async ({ authorization = '' }) => (await corp.userOf(authorization.slice(7))) !== undefined;
  gate = await startBoundaries({
    providers: { corp, hub },
    optional: ['hub'],
    backends: {
      notes: { server: notes, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'corp' } } },
      code: { server: code, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'hub' } } },
    },
    authServer: { storage: storageOf(redis, { readTimeout: '1s', writeTimeout: '1s' }) },
    replicas: 2,
  });
});

afterAll(async () => {
  for (const one of [gate, notes, code, corp, hub, redis]) await one?.[Symbol.asyncDispose]();
});

const BOTH = [0, 1];
const callOf = (name: string) => ({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });

async function openSession(caller: Caller, replica: number): Promise<Record<string, string>> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const { headers } = await caller.post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }, {}, replica);
  return { 'mcp-session-id': String(headers['mcp-session-id']), 'mcp-protocol-version': '2025-11-25' };
}

describe('two processes with one store', () => {
  it('make one login together, and both know its user', async () => {
    // Every request of the browser reaches the other one.
    const alice = await gate.login('alice');
    for (const replica of BOTH) {
      expect((await alice.seenBy('notes', { replica })).authorization).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
    }
  });

  it('present a refresh token once, however many calls come to both when the token ends', async () => {
    const alice = await gate.login('alice');
    for (let round = 0; round < ROUNDS; round++) {
      for (const replica of BOTH) await alice.seenBy('notes', { replica });
      // A health check may be the first to need the new one.
      const before = corp.refreshes.length;
      await sleep(SHORT * 1000);
      const calls = Array.from({ length: CALLS }, (_, n) => alice.seenBy('notes', { replica: n % 2 }));
      const seen = new Set((await Promise.all(calls)).map(({ authorization }) => authorization));
      expect(seen).toEqual(new Set([`Bearer ${corp.accessTokenOf('alice')}`]));
      expect(corp.refreshes.length - before).toBe(1);
    }
    expect(new Set(corp.refreshes).size).toBe(corp.refreshes.length);
  });

  it('both refuse a login as soon as one of them has ended it', async () => {
    for (const [here, there] of [BOTH, [...BOTH].reverse()] as [number, number][]) {
      const alice = await gate.login('alice');
      // Both know by now that the login stands, and need not ask.
      for (const replica of BOTH) await alice.seenBy('notes', { replica });
      expect((await alice.revoke(here)).status).toBe(200);
      expect((await alice.call('notes_whoami', { replica: there })).status).toBe(401);
      expect((await alice.call('notes_whoami', { replica: here })).status).toBe(401);
    }
  });

  it('end the streams of a login that the other one has ended', async () => {
    const alice = await gate.login('alice');
    const session = await openSession(alice, 1);
    const _meta = { [META.protocolVersion]: MODERN_REVISION, [META.clientCapabilities]: {} };
    const params = { notifications: { toolsListChanged: true }, _meta };
    const headers = { 'mcp-protocol-version': MODERN_REVISION, 'mcp-method': 'subscriptions/listen' };
    const message = { jsonrpc: '2.0', id: 1, method: 'subscriptions/listen', params };
    const streams = [await alice.listen(undefined, session, 1), await alice.listen(message, headers, 1)];
    expect(streams.map(({ status }) => status)).toEqual([200, 200]);
    let open = streams.length;
    for (const { ended } of streams) void ended.then(() => (open -= 1));
    await sleep(200);
    expect(open).toBe(2);
    await alice.revoke(0);
    await expect.poll(() => open, { timeout: 2_000 }).toBe(0);
  });

  it('share the sessions of clients, each for its principal alone', async () => {
    const alice = await gate.login('alice');
    const bob = await gate.login('bob');
    const session = await openSession(alice, 0);
    const call = callOf('notes_whoami');
    expect((await alice.post(call, session, 1)).json.result.content[0].text).toContain(corp.accessTokenOf('alice'));
    expect((await bob.post(call, session, 1)).status).toBe(404);
    expect((await bob.post(call, session, 0)).status).toBe(404);
    expect(outcomeOf(await alice.post(call, session, 0))).toBe('ok');
  });

  it('do not know a session any more that its client has ended', async () => {
    const alice = await gate.login('alice');
    const session = await openSession(alice, 0);
    expect((await alice.delete(session, 0)).status).toBe(204);
    for (const replica of BOTH) expect((await alice.post(callOf('notes_whoami'), session, replica)).status).toBe(404);
  });

  it('share an account that was connected on demand', async () => {
    const alice = await gate.login('alice');
    const { url } = (await alice.call('connect_code', { replica: 0 })).json.error.data;
    expect((await alice.visit(url)).body).toContain('hub connected');
    for (const replica of BOTH) {
      expect((await alice.seenBy('code', { replica })).authorization).toBe(`Bearer ${hub.accessTokenOf('alice')}`);
    }
  });

  it('leave a call that waits for its user to the one that runs it, and the other one says so', async () => {
    const alice = await gate.login('alice');
    const capabilities = { elicitation: { url: {} } };
    const { requestState, inputRequests } = (await alice.call('connect_code', { replica: 0, capabilities })).json
      .result;
    const inputResponses = Object.fromEntries(Object.keys(inputRequests).map((key) => [key, { action: 'decline' }]));
    const params = { requestState, inputResponses };
    const elsewhere = await alice.call('connect_code', { replica: 1, capabilities, params });
    expect(elsewhere.json.error.data.code).toBe('call.expired');
    const here = await alice.call('connect_code', { replica: 0, capabilities, params });
    expect(here.json.error.data.code).toBe('outgoing.login_needed');
  });
});

describe('the rows of a login', () => {
  const rowsOf = async (kind: string): Promise<string[]> =>
    (await (await redis.master()).cli('keys', `*:${kind}:*`)).split('\n').filter((key) => key !== '');

  it('say nothing to who reads the store', async () => {
    const alice = await gate.login('alice');
    const master = await redis.master();
    const { tsid, sub } = JSON.parse(Buffer.from(alice.accessToken.split('.')[1] ?? '', 'base64url').toString());
    const secrets = [tsid, sub, alice.refreshToken, corp.accessTokenOf('alice'), corp.refreshTokenOf('alice'), 'alice'];
    const keys = (await master.cli('keys', '*')).split('\n').filter((key) => key !== '');
    expect(keys.length).toBeGreaterThan(10);
    const stored = await Promise.all(keys.map((key) => master.cli('dump', key)));
    for (const secret of secrets) expect([...keys, ...stored].join('\n')).not.toContain(secret);
  });

  it('are worth nothing at another place, cut short, or sealed with another key', async () => {
    const master = await redis.master();
    const forged: ((own: string, ofTheOther: string) => string)[] = [
      (_own, ofTheOther) => ofTheOther,
      (own) => own.slice(0, -8),
      (own) => `unknown.${own.split('.')[1]}`,
    ];
    for (const forge of forged) {
      const before = new Set(await rowsOf('upstream-tokens'));
      const alice = await gate.login('alice');
      const bob = await gate.login('bob');
      const [key = '', another = ''] = (await rowsOf('upstream-tokens')).filter((row) => !before.has(row));
      const [own, ofTheOther] = await Promise.all([key, another].map((row) => master.cli('get', row)));
      await master.cli('set', key, forge(own?.trim() ?? '', ofTheOther?.trim() ?? ''), 'keepttl');
      const outcomes = [await alice.call('notes_whoami'), await bob.call('notes_whoami')].map(outcomeOf);
      expect(outcomes.sort()).toEqual(['401', 'ok']);
    }
  });
});

describe('a store that is away', () => {
  it('is to blame for a call whose token it cannot renew, not the server that wants another one', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('notes', { replica: 0 });
    const { admits } = notes;
    notes.admits = () => false;
    const servers = [...redis.servers, ...redis.sentinels];
    for (const server of servers) server.pause();
    try {
      const call = await alice.call('notes_whoami', { replica: 0 });
      expect([call.status, call.json.error.data.code]).toEqual([503, 'storage.unavailable']);
      expect(Number(call.headers['retry-after'])).toBeGreaterThan(0);
      for (const { address } of servers) expect(JSON.stringify(call.json)).not.toContain(address);
    } finally {
      for (const server of servers) server.resume();
      notes.admits = admits;
    }
    await expect
      .poll(async () => outcomeOf(await alice.call('notes_whoami', { replica: 0 })), { timeout: 15_000 })
      .toBe('ok');
  });

  it('costs 503 at once, and nothing when it is back', async () => {
    const alice = await gate.login('alice');
    const session = await openSession(alice, 0);
    await alice.seenBy('notes');
    const servers = [...redis.servers, ...redis.sentinels];
    for (const server of servers) server.pause();
    try {
      // What a process knows for certain it goes on with, until it notices that nobody tells it of changes any more.
      const status = async (): Promise<number> => (await alice.call('notes_whoami', { replica: 0 })).status;
      await expect.poll(status, { timeout: 10_000 }).toBe(503);
      const began = performance.now();
      const call = await alice.call('notes_whoami', { replica: 0 });
      expect([call.status, call.json.error.data.code]).toEqual([503, 'storage.unavailable']);
      expect(Number(call.headers['retry-after'])).toBeGreaterThan(0);
      const refresh = alice.refreshed(0);
      await expect(refresh).rejects.toThrow(/503.*temporarily_unavailable/);
      const page = await alice.browser.open(`${gate.issuer}/oauth/authorize?client_id=${alice.clientId}`);
      expect(page.status).toBe(503);
      expect(performance.now() - began).toBeLessThan(4_000);
    } finally {
      for (const server of servers) server.resume();
    }
    await expect
      .poll(async () => outcomeOf(await alice.call('notes_whoami', { replica: 0 })), { timeout: 15_000 })
      .toBe('ok');
    expect(outcomeOf(await alice.post(callOf('notes_whoami'), session, 0))).toBe('ok');
    await (await alice.refreshed(0)).seenBy('notes');
  });
});

describe('a gateway', () => {
  it('does not start without its store, and says what is wrong', async () => {
    const port = await freePort();
    const storage = { type: 'redis', redis: { addr: `127.0.0.1:${port}`, dialTimeout: '500ms' } };
    const starting = startBoundaries({ providers: { corp }, backends: {}, authServer: { storage } });
    await expect(starting).rejects.toThrow(
      /sally ended \(5\).*127\.0\.0\.1:\d+ is not available.*nothing listens there/s,
    );
  });

  it('writes no token, code or secret into its log', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('notes');
    const next = await alice.refreshed();
    const secrets = [alice, next].flatMap(({ accessToken, refreshToken }) => [accessToken, refreshToken]);
    secrets.push(corp.accessTokenOf('alice'), corp.refreshTokenOf('alice') ?? '', corp.client.secret);
    const log = gate.replicas.map(({ sally }) => sally.stderr()).join('\n');
    expect(log).toContain('upstream.refreshed');
    for (const secret of secrets) expect(log).not.toContain(secret);
  });
});

describe('a restart', () => {
  it('of all processes needs no new login, and clients go on with their sessions', async () => {
    const alice = await gate.login('alice');
    const session = await openSession(alice, 0);
    for (const replica of gate.replicas) await replica.sally.stop();
    for (const replica of gate.replicas) await replica.start();
    expect((await alice.seenBy('notes')).authorization).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
    expect(outcomeOf(await alice.post(callOf('notes_whoami'), session))).toBe('ok');
    await (await alice.refreshed()).seenBy('notes');
  });
});
