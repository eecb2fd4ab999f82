import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Secret, silentLog } from '../../src/base/index.ts';
import type { CreateCredential } from '../../src/gateway/backends/pool.ts';
import type { User } from '../../src/gateway/call.ts';
import { createBackendPool } from '../../src/gateway/index.ts';
import { type BackendPlan, DEFAULT_BACKEND } from '../../src/plan/index.ts';
import { type Boundaries, type BoundariesSetup, startBoundaries } from '../support/boundaries.ts';
import type { Caller } from '../support/caller.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.ts';
import { startTokenExchange, type TokenExchange } from '../support/token-exchange.ts';

const API_KEY = 'the key that all users share';
const SERVICE_TOKEN = 'the-token-of-the-gateway-itself';
const USER: User = {
  kind: 'user',
  issuer: 'https://gate.test',
  subject: 'alice',
  scopes: [],
  claims: {},
  expiresAt: Number.POSITIVE_INFINITY,
  token: new Secret('of alice'),
};
/** What a backend may see besides its credential. Everything else would be the client's. */
const OUR_HEADERS = [
  'accept',
  'connection',
  'content-length',
  'content-type',
  'host',
  'mcp-method',
  'mcp-name',
  'mcp-protocol-version',
  'mcp-session-id',
];

let corp: IdentityProvider;
let hub: IdentityProvider;
let exchange: TokenExchange;
let backends: Record<string, RecordingServer>;
let setup: BoundariesSetup;
let gate: Boundaries;
let alice: Caller;
let bob: Caller;

function exchangeAuth(audience: string, more: object = {}): Record<string, unknown> {
  const { tokenUrl, client } = exchange;
  const clientSecretRef = { name: 'exchange', key: 'client' };
  return {
    type: 'tokenExchange',
    tokenExchange: { tokenUrl, clientId: client.id, clientSecretRef, audience, scopes: ['use'], ...more },
  };
}

beforeAll(async () => {
  [corp, hub] = await Promise.all([startIdentityProvider({ name: 'corp' }), startIdentityProvider({ name: 'hub' })]);
  exchange = await startTokenExchange(corp);
  const names = ['code', 'notes', 'tickets', 'files', 'search', 'mail', 'open'];
  // Both eras among them.
  const started = names.map((_name, index) => startRecordingServer({ era: index % 2 === 0 ? 'legacy' : 'modern' }));
  const servers = await Promise.all(started);
  backends = Object.fromEntries(names.map((name, index) => [name, servers[index] as RecordingServer]));
  const server = (name: string): { readonly server: RecordingServer } => ({
    server: backends[name] as RecordingServer,
  });
  setup = {
    providers: { corp, hub },
    backends: {
      code: { ...server('code'), auth: { type: 'upstreamInject', upstreamInject: { providerName: 'hub' } } },
      notes: { ...server('notes'), auth: { type: 'upstreamInject', upstreamInject: { providerName: 'corp' } } },
      tickets: { ...server('tickets'), auth: exchangeAuth('tickets', { subjectProviderName: 'corp' }) },
      files: { ...server('files'), auth: exchangeAuth('files') },
      search: {
        ...server('search'),
        auth: {
          type: 'headerInjection',
          headerInjection: { headerName: 'X-Api-Key', valueSecretRef: { name: 'search', key: 'key' } },
        },
      },
      mail: {
        ...server('mail'),
        auth: { type: 'bearerToken', bearerToken: { tokenSecretRef: { name: 'mail', key: 'token' } } },
      },
      open: server('open'),
    },
    secrets: { 'exchange/client': exchange.client.secret, 'search/key': API_KEY, 'mail/token': SERVICE_TOKEN },
  };
  gate = await startBoundaries(setup);
  exchange.trustedIssuer = gate.issuer;
  alice = await gate.login('alice');
  bob = await gate.login('bob');
});

afterAll(async () => {
  await gate?.[Symbol.asyncDispose]();
  await Promise.all(Object.values(backends ?? {}).map((server) => server[Symbol.asyncDispose]()));
  await Promise.all([corp, hub, exchange].map((one) => one?.[Symbol.asyncDispose]()));
});

/** The claims of an access token of the gateway. */
function claimsOf({ accessToken }: Caller): { readonly sub: string } {
  return JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString());
}

describe('what a backend gets to see', () => {
  it.each(['alice', 'bob'])('of %s: the token of the provider that is named for it', async (user) => {
    const caller = user === 'alice' ? alice : bob;
    expect((await caller.seenBy('code')).authorization).toBe(`Bearer ${hub.accessTokenOf(user)}`);
    expect((await caller.seenBy('notes')).authorization).toBe(`Bearer ${corp.accessTokenOf(user)}`);
  });

  it.each(['alice', 'bob'])('of %s: a token made for it in exchange for that of a provider', async (user) => {
    const caller = user === 'alice' ? alice : bob;
    const { authorization = '' } = await caller.seenBy('tickets');
    const made = exchange.exchanges.find(({ token }) => authorization === `Bearer ${token}`);
    expect(made?.user).toBe(user);
    expect(made?.form.get('subject_token')).toBe(corp.accessTokenOf(user));
    expect(made?.form.get('audience')).toBe('tickets');
    expect(made?.form.get('scope')).toBe('use');
  });

  it.each(['alice', 'bob'])('of %s: a token made for it in exchange for the one he came with', async (user) => {
    const caller = user === 'alice' ? alice : bob;
    const { authorization = '' } = await caller.seenBy('files');
    const made = exchange.exchanges.find(({ token }) => authorization === `Bearer ${token}`);
    expect(made?.user).toBe(claimsOf(caller).sub);
    expect(made?.form.get('subject_token')).toBe(caller.accessToken);
    expect(made?.form.get('audience')).toBe('files');
  });

  it('a header that is the same for all users', async () => {
    for (const caller of [alice, bob]) {
      const { 'x-api-key': key, authorization } = await caller.seenBy('search');
      expect({ key, authorization }).toEqual({ key: API_KEY, authorization: undefined });
    }
  });

  it('a bearer token that is the same for all users', async () => {
    for (const caller of [alice, bob]) {
      expect((await caller.seenBy('mail')).authorization).toBe(`Bearer ${SERVICE_TOKEN}`);
    }
  });

  it('nothing, where nothing is configured', async () => {
    expect((await alice.seenBy('open')).authorization).toBeUndefined();
  });

  it('one exchange for many calls of one user', async () => {
    const before = exchange.exchanges.length;
    await Promise.all(Array.from({ length: 20 }, () => alice.seenBy('tickets')));
    expect(exchange.exchanges.length).toBe(before);
  });
});

describe('what a backend never gets to see', () => {
  it('headers of the client: its token, cookies, names for itself and where it comes from', async () => {
    const hostile = {
      cookie: 'session=of-the-client',
      'x-api-key': 'of the client',
      'x-forwarded-for': '203.0.113.9',
      'x-forwarded-user': 'admin',
      'proxy-authorization': 'Basic b2YgdGhlIGNsaWVudA==',
      forwarded: 'for=203.0.113.9',
      'x-user-id': 'admin',
      'x-custom': 'of the client',
      'user-agent': 'the client',
    };
    for (const name of Object.keys(backends)) {
      const message = {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: `${name}_whoami`, arguments: {} },
      };
      const { json } = await alice.post(message, hostile);
      const seen = JSON.parse(json.result.content[0].text) as Record<string, string>;
      const credential = ['authorization', ...(name === 'search' ? ['x-api-key'] : [])];
      expect(Object.keys(seen).filter((header) => ![...OUR_HEADERS, ...credential].includes(header))).toEqual([]);
      expect(JSON.stringify(seen)).not.toContain('of the client');
    }
  });

  it('a token of the gateway, in any request of the whole file', () => {
    const requests = Object.values(backends).flatMap(({ seen }) => seen);
    expect(requests.length).toBeGreaterThan(50);
    for (const { headers, body } of requests) {
      for (const { accessToken, refreshToken } of [alice, bob]) {
        expect(JSON.stringify([headers, body])).not.toContain(accessToken);
        expect(JSON.stringify([headers, body])).not.toContain(refreshToken);
      }
    }
  });
});

describe('after a change of the resources', () => {
  it('users go on with their logins, and their tokens are renewed as before', async () => {
    await using more = await startRecordingServer();
    const renewed = async (backend: string, provider: IdentityProvider): Promise<void> => {
      const old = provider.accessTokenOf('alice');
      const server = backends[backend] as RecordingServer;
      server.admits = ({ authorization }) => authorization !== `Bearer ${old}`;
      expect((await alice.seenBy(backend)).authorization).toBe(`Bearer ${provider.accessTokenOf('alice')}`);
      expect(provider.accessTokenOf('alice')).not.toBe(old);
      server.admits = () => true;
    };
    alice = await gate.login('alice');
    await alice.seenBy('code');
    const { authorization } = await alice.seenBy('tickets');
    await gate.reload({ ...setup.backends, more: { server: more } });
    expect((await alice.seenBy('more')).authorization).toBeUndefined();
    // Nor is a token forgotten that was made for a backend.
    expect((await alice.seenBy('tickets')).authorization).toBe(authorization);
    // The connections are those from before; what they show comes from the authorization server of now.
    await renewed('code', hub);
    await renewed('notes', corp);
  });
});

describe('a credential', () => {
  const pool = () =>
    createBackendPool({ startWorkload: () => expect.fail('nothing is started'), version: '0', log: silentLog });
  const planFor = (server: RecordingServer): BackendPlan => ({
    name: 'notes',
    target: { kind: 'streamable-http', url: server.url, addresses: 'private', headers: {} },
    credential: { kind: 'upstream-inject', provider: 'corp' },
    ...DEFAULT_BACKEND,
  });
  /** Shows the name of who keeps the logins right now. */
  const named: CreateCredential = (tokens) => ({
    headers: async () => ({ authorization: (await tokens()?.accessToken(USER, 'corp', undefined))?.reveal() ?? '' }),
  });
  const keeper = (name: string, issuer: string) => ({
    issuer,
    upstreamTokens: { accessToken: () => new Secret(`Bearer of ${name}`) },
  });

  it('of two endpoints with logins of their own is shown on connections of their own', async () => {
    await using server = await startRecordingServer({ era: 'modern' });
    const backends = pool();
    const plan = planFor(server);
    const leases = ['one', 'other'].map((issuer) => backends.lease(plan, named, keeper(issuer, issuer)));
    for (const [index, { source }] of leases.entries()) {
      const before = server.seen.length;
      await source.lease(USER).backend.settled();
      const shown = new Set(server.seen.slice(before).map(({ headers }) => headers.authorization));
      expect(shown).toEqual(new Set([`Bearer of ${index === 0 ? 'one' : 'other'}`]));
    }
    await backends.close();
  });

  it('outlives a reload, finds its tokens at the newest gateway that stands, and ends with the last', async () => {
    await using server = await startRecordingServer({ era: 'modern' });
    const backends = pool();
    const plan = planFor(server);
    let made = 0;
    let closed = 0;
    let shown: () => Promise<string | undefined> = async () => undefined;
    const counted: CreateCredential = (tokens) => {
      made += 1;
      const credential = named(tokens);
      shown = async () => (await credential.headers(USER)).authorization;
      const close = async (): Promise<void> => {
        closed += 1;
      };
      return { ...credential, close };
    };
    const first = backends.lease(plan, counted, keeper('first', 'gate'));
    const second = backends.lease(plan, counted, keeper('second', 'gate'));
    expect([made, await shown()]).toEqual([1, 'Bearer of second']);
    await second.release(); // it did not come up
    expect([closed, await shown()]).toEqual([0, 'Bearer of first']);
    const third = backends.lease(plan, counted, keeper('third', 'gate'));
    await first.release();
    expect([made, closed, await shown()]).toEqual([1, 0, 'Bearer of third']);
    await third.release();
    await third.release();
    expect(closed).toBe(1);
  });
});
