import { createHash, randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it } from 'vitest';
import { createInteractions, type Interactions } from '../../src/authserver/interactions/index.ts';
import { createAuthServerMemory } from '../../src/authserver/memory.ts';
import { createCore } from '../../src/authserver/server.ts';
import type { Users } from '../../src/authserver/users.ts';
import { createVault, type Vault, type VaultEntry } from '../../src/authserver/vault/index.ts';
import { createLog, type Route, Secret } from '../../src/base/index.ts';
import { createUpstream, type UpstreamStatus } from '../../src/oauth/upstream/index.ts';
import type { AuthServerPlan, UpstreamPlan } from '../../src/plan/index.ts';
import { createTestBrowser, type TestBrowser, type Visit } from '../support/cookie-jar.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { type OAuth2Provider, startOAuth2Provider } from '../support/oauth2-provider.ts';

const HMAC = randomBytes(32).toString('base64url');
const REDIRECT = 'http://127.0.0.1:1/client/callback';
const atClient = { until: (url: URL) => url.href.startsWith(REDIRECT) };

interface Gate extends AsyncDisposable {
  readonly issuer: string;
  readonly startConnection: Interactions['startConnection'];
  statuses(): readonly UpstreamStatus[];
  /** What was logged, line by line. */
  readonly lines: readonly string[];
  /** What goes wrong inside, from now on. */
  readonly faults: { users?: boolean };
  /** Makes so much time pass. */
  wait(seconds: number): void;
  /** Rows in the store. */
  rows(): number;
  tokensOf(
    grantId: string,
    provider: string,
    owner: { clientId: string; userId: string },
  ): Promise<VaultEntry | undefined>;
}

async function startGate(
  providers: readonly UpstreamPlan[],
  overrides: Partial<AuthServerPlan> = {},
  path = '',
): Promise<Gate> {
  const http = createServer();
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(http.address() as AddressInfo).port}${path}`;
  const plan: AuthServerPlan = {
    name: 'test/gate',
    issuer,
    signingKeys: [],
    hmacSecrets: [new Secret(HMAC)],
    lifespans: { accessToken: 300, refreshToken: 3600, login: 7200, authCode: 60 },
    resources: [`${issuer}/mcp`],
    scopes: ['profile'],
    consent: 'remember',
    registration: { dynamic: true, metadataDocuments: false, metadataHosts: [], redirectSchemes: [] },
    clients: [],
    providers: providers as [UpstreamPlan, ...UpstreamPlan[]],
    storage: { kind: 'memory' },
    ...overrides,
  };
  let ahead = 0;
  const now = () => Date.now() + ahead;
  const lines: string[] = [];
  const log = createLog({ level: 'debug', format: 'json', write: (line) => lines.push(line), now: () => new Date() });
  const memory = createAuthServerMemory({ now });
  const upstreams = new Map(plan.providers.map((one) => [one.name, createUpstream(one, { log, now })]));
  const faults: Gate['faults'] = {};
  let vault: Vault | undefined;
  let interactions: Interactions | undefined;
  const server = await createCore(plan, { memory, log, now }, (parts) => {
    vault = createVault(parts.records);
    const users: Users = {
      ...parts.users,
      resolve: async (...who) => {
        if (faults.users) throw new Error('the users are not there');
        return await parts.users.resolve(...who);
      },
    };
    interactions = createInteractions({ ...parts, users, vault, upstreams, disconnect: async () => {} });
    return { routes: interactions.routes, close: async () => {} };
  });
  http.on('request', (request, response) => {
    const route = routeOf(server.routes, new URL(request.url ?? '/', issuer).pathname);
    if (route) route.handler(request, response);
    else response.writeHead(404).end();
  });
  return {
    issuer,
    faults,
    startConnection: async (grantId, provider) => await interactions?.startConnection(grantId, provider),
    statuses: () => [...upstreams.values()].map((upstream) => upstream.status()),
    lines,
    wait: (seconds) => {
      ahead += seconds * 1000;
    },
    rows: () => memory.store.report().rows,
    tokensOf: async (grantId, provider, owner) => (await vault?.of(grantId).find(provider, owner))?.entry,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
      await server.close();
      for (const upstream of upstreams.values()) await upstream.close();
    },
  };
}

function routeOf(routes: readonly Route[], path: string): Route | undefined {
  return (
    routes.find((route) => route.path === path) ??
    routes.find((route) => route.below && path.startsWith(`${route.path}/`))
  );
}

function corpOf(idp: IdentityProvider, overrides: Partial<UpstreamPlan> = {}): UpstreamPlan {
  return {
    name: 'corp',
    required: true,
    clientId: idp.client.id,
    clientAuth: { kind: 'secret', secret: new Secret(idp.client.secret) },
    scopes: ['openid', 'profile', 'email'],
    offlineIfOffered: true,
    authorizationParams: {},
    addresses: 'private',
    endpoints: { kind: 'oidc', issuer: idp.issuer, subjectClaim: 'sub' },
    backends: ['notes'],
    ...overrides,
  };
}

function hubOf(hub: OAuth2Provider, overrides: Partial<UpstreamPlan> = {}): UpstreamPlan {
  return {
    name: 'hub',
    required: true,
    clientId: hub.client.id,
    clientAuth: { kind: 'secret', secret: new Secret(hub.client.secret) },
    scopes: ['repo'],
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
        headers: {},
        subjectFields: ['id'],
        nameFields: ['name'],
        emailFields: ['email'],
      },
    },
    backends: ['code'],
    ...overrides,
  };
}

interface World extends AsyncDisposable {
  readonly corp: IdentityProvider;
  readonly hub: OAuth2Provider;
  readonly gate: Gate;
}

/** A gate with two providers that log alice in without asking. */
async function startWorld(overrides: Partial<AuthServerPlan> = {}): Promise<World> {
  const corp = await startIdentityProvider({ user: 'alice' });
  const hub = await startOAuth2Provider({ automatic: true });
  const gate = await startGate([corpOf(corp), hubOf(hub)], overrides);
  return {
    corp,
    hub,
    gate,
    async [Symbol.asyncDispose]() {
      for (const one of [gate, corp, hub]) await one[Symbol.asyncDispose]();
    },
  };
}

interface TestClient {
  readonly id: string;
  readonly authorizeUrl: string;
  redeem(back: URL): Promise<{ readonly status: number; readonly claims: Record<string, unknown> }>;
}

async function registerClient(gate: Gate, redirectUri = REDIRECT): Promise<TestClient> {
  const registered = await fetch(`${gate.issuer}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_name: 'Test <b>client</b>', redirect_uris: [redirectUri] }),
  });
  const { client_id: id } = (await registered.json()) as { client_id: string };
  return clientOf(gate, id, redirectUri);
}

function clientOf(gate: Gate, id: string, redirectUri = REDIRECT): TestClient {
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: id,
    redirect_uri: redirectUri,
    scope: 'openid profile',
    state: 'state of the client',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
    resource: `${gate.issuer}/mcp`,
  });
  return {
    id,
    authorizeUrl: `${gate.issuer}/oauth/authorize?${query}`,
    async redeem(back) {
      const response = await fetch(`${gate.issuer}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'authorization_code',
          client_id: id,
          code: back.searchParams.get('code') ?? '',
          redirect_uri: redirectUri,
          code_verifier: verifier,
        }),
      });
      const { access_token: token = '..' } = (await response.json()) as { access_token?: string };
      const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString() || '{}') as object;
      return { status: response.status, claims: claims as Record<string, unknown> };
    },
  };
}

async function login(client: TestClient, browser: TestBrowser = createTestBrowser()): Promise<Visit> {
  const consent = await browser.travel(client.authorizeUrl);
  return await browser.submit(consent, { decision: 'allow' }, atClient);
}

/** Up to the moment when the browser is about to come back from a provider. */
async function untilCallback(client: TestClient, gate: Gate, browser: TestBrowser): Promise<URL> {
  const until = (url: URL) => url.href.startsWith(`${gate.issuer}/oauth/callback`);
  const consent = await browser.travel(client.authorizeUrl);
  return (await browser.submit(consent, { decision: 'allow' }, { until })).url;
}

const errorOf = ({ url }: Visit) => url.searchParams.get('error');
const eventsOf = (gate: Gate) =>
  gate.lines
    .map((line) => JSON.parse(line) as Record<string, unknown>)
    .filter(({ message }) => /^auth\./.test(`${message}`));
const incidentOf = ({ body }: Visit) => /<code>([0-9a-f]{10})<\/code>/.exec(body)?.[1];

describe('a login through two providers', () => {
  it('asks, visits both in their order, and gives one token; each backend finds what its provider gave', async () => {
    await using world = await startWorld();
    const { gate, corp, hub } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const consent = await browser.travel(client.authorizeUrl);
    expect(consent.body).toContain('Test &lt;b&gt;client&lt;/b&gt;');
    expect(consent.body).toContain(REDIRECT);
    expect([corp.calls('authorize'), hub.calls('authorize')]).toEqual([0, 0]);

    const atHub = await browser.submit(
      consent,
      { decision: 'allow' },
      { until: (url) => url.href.startsWith(hub.authorizationEndpoint) },
    );
    expect(corp.calls('token')).toBe(1);
    expect(hub.calls('token')).toBe(0);

    const back = await browser.travel(atHub.url, atClient);
    expect(back.url.searchParams.get('state')).toBe('state of the client');
    expect(back.url.searchParams.get('iss')).toBe(gate.issuer);
    const { claims } = await client.redeem(back.url);
    expect(claims).toMatchObject({ aud: `${gate.issuer}/mcp`, name: 'Alice Example', email: 'alice@example.test' });
    expect(claims.sub).not.toBe('alice');

    const owner = { clientId: client.id, userId: String(claims.sub) };
    const atCorp = await gate.tokensOf(String(claims.tsid), 'corp', owner);
    expect(atCorp?.accessToken.reveal()).toBe(corp.accessTokenOf('alice'));
    const entry = await gate.tokensOf(String(claims.tsid), 'hub', owner);
    expect(entry?.accessToken.reveal()).toBe(hub.accessToken());
    expect(entry?.subject).toBe('9007199254740993');
    expect(await gate.tokensOf(String(claims.tsid), 'hub', { ...owner, clientId: 'another' })).toBeUndefined();
    expect(browser.cookies.filter(({ name }) => name.startsWith('sally_flow'))).toEqual([]);
  });

  it('is told in the log step by step, without secrets', async () => {
    await using world = await startWorld();
    const { gate, corp, hub } = world;
    const client = await registerClient(gate);
    const { claims } = await client.redeem((await login(client)).url);
    expect(eventsOf(gate)).toMatchObject([
      { message: 'auth.started', client: client.id, providers: ['corp', 'hub'] },
      { message: 'auth.leg.completed', provider: 'corp', place: 1, of: 2 },
      { message: 'auth.leg.completed', provider: 'hub', place: 2, of: 2 },
      { message: 'auth.completed', client: client.id, user: claims.sub },
    ]);
    const log = gate.lines.join('');
    const secrets = [corp.accessTokenOf('alice'), hub.accessToken(), hub.refreshToken(), corp.client.secret];
    for (const secret of [...secrets, String(claims.tsid)]) expect(log).not.toContain(secret);
  });

  it('has the same user the next time, and another grant', async () => {
    await using world = await startWorld();
    const { gate, corp } = world;
    const client = await registerClient(gate);
    const first = await client.redeem((await login(client)).url);
    const second = await client.redeem((await login(client)).url);
    corp.user = 'bob';
    const other = await client.redeem((await login(client)).url);
    expect(second.claims.sub).toBe(first.claims.sub);
    expect(second.claims.tsid).not.toBe(first.claims.tsid);
    expect(other.claims.sub).not.toBe(first.claims.sub);
  });

  it('makes one user of several first logins at the same time', async () => {
    await using corp = await startIdentityProvider({ user: 'alice' });
    await using gate = await startGate([corpOf(corp)]);
    const client = await registerClient(gate);
    const backs = await Promise.all([1, 2, 3].map(() => login(client)));
    const tokens = await Promise.all(backs.map(({ url }) => client.redeem(url)));
    expect(tokens.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(tokens.map(({ claims }) => claims.sub)).size).toBe(1);
  });

  it('leaves out providers that are not required', async () => {
    await using corp = await startIdentityProvider({ user: 'alice' });
    await using hub = await startOAuth2Provider({ automatic: true });
    await using gate = await startGate([corpOf(corp), hubOf(hub, { required: false })]);
    const client = await registerClient(gate);
    expect((await client.redeem((await login(client)).url)).status).toBe(200);
    expect(hub.calls('authorize')).toBe(0);
  });

  it('goes on where it was after a reload, from the back button and from a second tab', async () => {
    await using world = await startWorld();
    const { gate, hub } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const consent = await browser.travel(client.authorizeUrl);
    expect((await browser.open(consent.url)).body).toContain('name="decision"');
    await browser.submit(
      consent,
      { decision: 'allow' },
      { until: (url) => url.href.startsWith(hub.authorizationEndpoint) },
    );
    const again = await browser.open(consent.url);
    expect(again.body).toContain('1 of 2 connected');
    const back = await browser.travel(consent.url, atClient);
    expect((await client.redeem(back.url)).status).toBe(200);
    const over = await browser.open(consent.url);
    expect(over.status).toBe(404);
    expect(over.body).toContain('This login is over');
  });

  it('works for an issuer with a path', async () => {
    await using corp = await startIdentityProvider({
      user: 'alice',
      redirectUris: ['http://127.0.0.1/team/one/oauth/callback'],
    });
    await using gate = await startGate([corpOf(corp)], {}, '/team/one');
    const client = await registerClient(gate);
    const { status, claims } = await client.redeem((await login(client)).url);
    expect({ status, iss: claims.iss }).toEqual({ status: 200, iss: gate.issuer });
  });

  it('knows a client that was agreed on beforehand, and does not ask', async () => {
    const known = { id: 'known', name: 'Known', redirectUris: [REDIRECT] };
    await using world = await startWorld({ clients: [known] });
    const client = clientOf(world.gate, 'known');
    const back = await createTestBrowser().travel(client.authorizeUrl, atClient);
    expect((await client.redeem(back.url)).status).toBe(200);
  });
});

describe('consent', () => {
  it('that is refused tells the client, and no provider ever hears of it', async () => {
    await using world = await startWorld();
    const { gate, corp } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const consent = await browser.travel(client.authorizeUrl);
    const before = gate.rows();
    const back = await browser.submit(consent, { decision: 'deny' }, atClient);
    expect(errorOf(back)).toBe('access_denied');
    expect(back.url.searchParams.get('state')).toBe('state of the client');
    expect(corp.calls('authorize')).toBe(0);
    expect(gate.rows()).toBeLessThan(before);
    expect(eventsOf(gate).at(-1)).toMatchObject({ message: 'auth.failed', reason: 'denied at consent' });
  });

  it('is given by our own page only', async () => {
    await using world = await startWorld();
    const { gate, corp } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const consent = await browser.travel(client.authorizeUrl);
    const forged = await browser.submit(consent, { decision: 'allow', csrf: 'guessed' });
    expect(forged.status).toBe(403);
    const unclear = await browser.submit(consent, { decision: 'maybe' });
    expect(unclear.status).toBe(403);
    const stranger = await createTestBrowser().submit(consent, { decision: 'allow' });
    expect(stranger.status).toBe(404);
    const skipped = await browser.open(`${consent.url.href}/next`);
    expect(skipped.headers.location).toBe(consent.url.pathname);
    expect((await browser.open(`${consent.url.href}/finish`)).body).not.toContain('code=');
    expect(corp.calls('authorize')).toBe(0);
    const back = await browser.submit(consent, { decision: 'allow' }, atClient);
    expect((await client.redeem(back.url)).status).toBe(200);
  });

  it.each(['allow', 'deny'])(
    'is answered with a page, since browsers hold a redirect behind a form to form-action: %s',
    async (decision) => {
      await using world = await startWorld();
      const client = await registerClient(world.gate);
      const browser = createTestBrowser();
      const consent = await browser.travel(client.authorizeUrl);
      const answer = await fetch(`${consent.url.href}/consent`, {
        method: 'POST',
        headers: { cookie: browser.cookies.map(({ name, value }) => `${name}=${value}`).join('; ') },
        body: new URLSearchParams({ decision, csrf: /name="csrf" value="([^"]+)"/.exec(consent.body)?.[1] ?? '' }),
        redirect: 'manual',
      });
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-security-policy')).toContain("form-action 'self'");
      expect(await answer.text()).toMatch(/<meta http-equiv="refresh"/);
    },
  );

  it('is remembered for a web client that the user comes from by himself, and asked for again when a site leads him (row 15)', async () => {
    await using world = await startWorld();
    const { gate } = world;
    const redirect = 'https://app.example.test/callback';
    const client = await registerClient(gate, redirect);
    const browser = createTestBrowser();
    const until = (url: URL) => url.href.startsWith(redirect);
    const consent = await browser.travel(client.authorizeUrl);
    await browser.submit(consent, { decision: 'allow' }, { until });

    const atInteraction = await browser.travel(client.authorizeUrl, {
      until: (url) => url.pathname.includes('/interaction/'),
    });
    const led = await browser.open(atInteraction.url, 'https://evil.example.test/');
    expect(led.body).toContain('name="decision"');
    const second = await browser.travel(client.authorizeUrl, {
      until: (url) => url.pathname.includes('/interaction/'),
    });
    const alone = await browser.open(second.url);
    expect(alone.status).toBe(303);
    expect(alone.headers.location).toBe(`${second.url.pathname}/next`);
  });

  it('is never remembered for a program on this computer', async () => {
    await using world = await startWorld();
    const client = await registerClient(world.gate);
    const browser = createTestBrowser();
    await login(client, browser);
    expect((await browser.travel(client.authorizeUrl)).body).toContain('name="decision"');
  });

  it('can be switched off for development', async () => {
    await using world = await startWorld({ consent: 'skip' });
    const client = await registerClient(world.gate);
    const back = await createTestBrowser().travel(client.authorizeUrl, atClient);
    expect((await client.redeem(back.url)).status).toBe(200);
    expect(world.gate.lines.join('')).toContain('for development only');
  });
});

describe('a login that fails', () => {
  it('at the second provider leaves nothing of the first behind', async () => {
    await using world = await startWorld();
    const { gate, hub } = world;
    const client = await registerClient(gate);
    const rows = gate.rows();
    hub.faults.deny = true;
    const browser = createTestBrowser();
    const consent = await browser.travel(client.authorizeUrl);
    const page = await browser.submit(
      consent,
      { decision: 'allow' },
      { until: ({ pathname }) => pathname.endsWith('/finish') },
    );
    const failure = eventsOf(gate).at(-1);
    expect(failure).toMatchObject({ message: 'auth.failed', reason: 'refused at the provider', provider: 'hub' });
    const back = await browser.travel(page.url, atClient);
    expect(errorOf(back)).toBe('access_denied');
    expect(back.url.searchParams.get('error_description')).toBe('The login was refused at an identity provider.');
    expect(gate.rows()).toBe(rows);
  });

  it('shows a page in our words, with an id that the log has too', async () => {
    await using world = await startWorld();
    const { gate, hub } = world;
    const client = await registerClient(gate);
    hub.faults.deny = true;
    const browser = createTestBrowser();
    const consent = await browser.travel(client.authorizeUrl);
    const next = await browser.submit(
      consent,
      { decision: 'allow' },
      { until: (url) => url.searchParams.get('error') === 'access_denied' && url.pathname === '/oauth/callback' },
    );
    const page = await browser.open(next.url);
    expect(page.status).toBe(403);
    expect(page.body).toContain('The login at hub was cancelled or refused.');
    expect(page.body).not.toContain('alert(1)');
    expect(eventsOf(gate).at(-1)?.incident).toBe(incidentOf(page));
  });

  it.each(['corp', 'hub'] as const)(
    'because %s cannot answer is temporarily_unavailable for the client',
    async (name) => {
      await using world = await startWorld();
      const client = await registerClient(world.gate);
      const rows = world.gate.rows();
      if (name === 'corp') world.corp.faults.down = true;
      else world.hub.faults.tokenError = 'temporarily_unavailable';
      const back = await login(client);
      expect(errorOf(back)).toBe('temporarily_unavailable');
      expect(world.gate.rows()).toBe(rows);
    },
  );

  it.each([
    [
      'hub answers with an error',
      (world: World) => Object.assign(world.hub.faults, { tokenError: 'bad_verification_code' }),
    ],
    ['hub gives no token', (world: World) => Object.assign(world.hub.faults, { noAccessToken: true })],
    ['hub does not tell who it is', (world: World) => Object.assign(world.hub.faults, { userInfo: '{}' })],
    [
      'corp signs for another issuer',
      (world: World) =>
        Object.assign(world.corp.faults, { idToken: (claims: object) => ({ ...claims, iss: 'https://evil.test' }) }),
    ],
    [
      'corp signs for another login',
      (world: World) =>
        Object.assign(world.corp.faults, { idToken: (claims: object) => ({ ...claims, nonce: 'old' }) }),
    ],
    [
      'corp calls itself something else',
      (world: World) => Object.assign(world.corp.faults, { responseIssuer: { iss: 'https://evil.test' } }),
    ],
  ])('because %s is server_error for the client, and leaves nothing behind', async (_why, breakIt) => {
    await using world = await startWorld();
    const client = await registerClient(world.gate);
    const rows = world.gate.rows();
    breakIt(world);
    const back = await login(client);
    expect(errorOf(back)).toBe('server_error');
    expect(back.url.searchParams.has('code')).toBe(false);
    expect(world.gate.rows()).toBe(rows);
  });

  it('at its very end, in here, is server_error for the client, and leaves nothing behind', async () => {
    await using world = await startWorld();
    const client = await registerClient(world.gate);
    const rows = world.gate.rows();
    world.gate.faults.users = true;
    const back = await login(client);
    expect(errorOf(back)).toBe('server_error');
    expect(back.url.searchParams.get('error_description')).toBe('The login could not be completed.');
    expect(world.gate.rows()).toBe(rows);
  });

  it('takes its open steps in other windows along', async () => {
    await using world = await startWorld();
    const { gate, corp } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const callback = await untilCallback(client, gate, browser);
    corp.faults.deny = true;
    const interaction = browser.cookies.find(({ name }) => name === 'sally_login')?.path ?? '';
    const toFinish = { until: ({ pathname }: URL) => pathname.endsWith('/finish') };
    const failed = await browser.travel(`${gate.issuer}${interaction}/next`, toFinish);
    expect((await browser.open(callback)).status).toBe(404);
    expect(errorOf(await browser.travel(failed.url, atClient))).toBe('access_denied');
    expect(corp.calls('token')).toBe(0);
  });

  it('can be begun again at once', async () => {
    await using world = await startWorld();
    const client = await registerClient(world.gate);
    const browser = createTestBrowser();
    world.hub.faults.deny = true;
    await login(client, browser);
    world.hub.faults.deny = false;
    expect((await client.redeem((await login(client, browser)).url)).status).toBe(200);
  });

  it('ends when its browser is sent away again and again', async () => {
    await using world = await startWorld();
    const client = await registerClient(world.gate);
    const browser = createTestBrowser();
    await untilCallback(client, world.gate, browser);
    const page = await browser.travel(client.authorizeUrl);
    await browser.submit(page, { decision: 'allow' }, { until: ({ pathname }) => pathname.endsWith('/next') });
    let status = 303;
    for (let visit = 0; visit < 25 && status === 303; visit++) {
      ({ status } = await browser.open(`${page.url.href}/next`));
    }
    expect(status).toBe(429);
  });
});

describe('a browser that comes back', () => {
  it('with the login of somebody else gets nothing for him (rows 14, W-2)', async () => {
    await using world = await startWorld();
    const { gate, corp, hub } = world;
    const client = await registerClient(gate);
    const rows = gate.rows();
    const attacker = createTestBrowser();
    const consent = await attacker.travel(client.authorizeUrl);
    const atHub = await attacker.submit(
      consent,
      { decision: 'allow' },
      { until: (url) => url.href.startsWith(hub.authorizationEndpoint) },
    );
    const victim = createTestBrowser();
    const page = await victim.travel(atHub.url);
    expect(page.status).toBe(403);
    expect(page.body).toContain('another browser');
    expect(hub.calls('token')).toBe(0);
    expect(corp.calls('token')).toBe(1);
    const over = await attacker.travel(`${consent.url.href}/finish`);
    expect(over.status).toBe(404);
    expect(eventsOf(gate).at(-1)).toMatchObject({ message: 'auth.failed', reason: 'came back in another browser' });
    // What is left is the library's note of the request, from which the attacker can only start anew.
    expect(gate.rows()).toBe(rows + 1);
  });

  it('can use an answer once', async () => {
    await using world = await startWorld();
    const { gate, corp } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const callback = await untilCallback(client, gate, browser);
    const pages = await Promise.all([1, 2, 3].map(() => browser.open(callback)));
    expect(pages.map(({ status }) => status).sort()).toEqual([200, 404, 404]);
    expect(corp.calls('token')).toBe(1);
    expect((await browser.open(callback)).status).toBe(404);
  });

  it('too late has to begin again', async () => {
    await using world = await startWorld();
    const { gate, corp } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const callback = await untilCallback(client, gate, browser);
    gate.wait(601);
    expect((await browser.open(callback)).status).toBe(404);
    expect(corp.calls('token')).toBe(0);
  });

  it('with the answer of one provider for another is refused (mix-up)', async () => {
    await using world = await startWorld();
    const { gate, corp, hub } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const fromCorp = await untilCallback(client, gate, browser);
    const other = createTestBrowser();
    const consent = await other.travel(client.authorizeUrl);
    const atHub = await other.submit(
      consent,
      { decision: 'allow' },
      { until: (url) => url.href.startsWith(hub.authorizationEndpoint) },
    );
    const mixed = new URL(fromCorp);
    mixed.searchParams.set('state', atHub.url.searchParams.get('state') ?? '');
    const calls = corp.calls('token');
    const page = await other.open(mixed);
    expect(page.status).toBe(502);
    expect(hub.calls('token')).toBe(0);
    expect(corp.calls('token')).toBe(calls);
  });

  it.each([
    '',
    '?state=',
    '?state=unknown&code=x',
    '?state=a&state=b',
    '?error=access_denied&error_description=<script>',
  ])('with nothing that we know sees a page: %s', async (query) => {
    await using world = await startWorld();
    const page = await createTestBrowser().open(`${world.gate.issuer}/oauth/callback${query}`);
    expect(page.status).toBe(404);
    expect(page.body).toContain('This login is over');
    expect(page.body).not.toContain('<script>');
    expect(world.gate.lines.join('')).toContain(incidentOf(page) ?? 'no incident');
  });

  it('from two logins at once finds each where it was (row 39)', async () => {
    await using world = await startWorld();
    const { gate } = world;
    const [one, two] = [await registerClient(gate), await registerClient(gate)];
    const browser = createTestBrowser();
    const first = await untilCallback(one, gate, browser);
    const second = await untilCallback(two, gate, browser);
    const backs = [await browser.travel(second, atClient), await browser.travel(first, atClient)];
    expect((await two.redeem(backs[0]?.url ?? second)).status).toBe(200);
    expect((await one.redeem(backs[1]?.url ?? first)).status).toBe(200);
  });

  it('from a second window of the same step does not redeem a second time', async () => {
    await using world = await startWorld();
    const { gate, corp } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const until = (url: URL) => url.href.startsWith(`${gate.issuer}/oauth/callback`);
    const consent = await browser.travel(client.authorizeUrl);
    const first = (await browser.submit(consent, { decision: 'allow' }, { until })).url;
    const second = (await browser.travel(`${consent.url.href}/next`, { until })).url;
    expect(second.searchParams.get('state')).not.toBe(first.searchParams.get('state'));
    const pages = await Promise.all([browser.open(first), browser.open(second)]);
    expect(pages.some(({ body }) => body.includes('1 of 2 connected'))).toBe(true);
    expect(corp.calls('token')).toBe(1);
    const back = await browser.travel(consent.url, atClient);
    expect((await client.redeem(back.url)).status).toBe(200);
  });

  it('from a step that is done already is led on', async () => {
    await using world = await startWorld();
    const { gate, corp } = world;
    const client = await registerClient(gate);
    const browser = createTestBrowser();
    const until = (url: URL) => url.href.startsWith(`${gate.issuer}/oauth/callback`);
    const consent = await browser.travel(client.authorizeUrl);
    const first = (await browser.submit(consent, { decision: 'allow' }, { until })).url;
    const second = (await browser.travel(`${consent.url.href}/next`, { until })).url;
    for (const callback of [first, second]) {
      expect(await browser.open(callback)).toMatchObject({
        status: 200,
        body: expect.stringContaining('1 of 2 connected'),
      });
    }
    expect(corp.calls('token')).toBe(1);
  });

  it('without our cookie goes nowhere, even if the library knows it', async () => {
    await using world = await startWorld();
    const client = await registerClient(world.gate);
    const browser = createTestBrowser();
    const consent = await browser.travel(client.authorizeUrl);
    await browser.submit(consent, { decision: 'allow' }, { until: () => true });
    browser.cookies = browser.cookies.filter(({ name }) => !name.startsWith('sally_flow'));
    for (const step of ['next', 'finish']) expect((await browser.open(`${consent.url.href}/${step}`)).status).toBe(404);
    // From the start it can begin anew, with consent and all.
    expect((await browser.open(consent.url)).body).toContain('name="decision"');
    expect(world.corp.calls('authorize')).toBe(0);
  });
});

describe('providers of other kinds', () => {
  it('with nested answers give tokens, and a user for this login only', async () => {
    await using hub = await startOAuth2Provider({ automatic: true, tokenResponse: 'nested' });
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
    await using gate = await startGate([hubOf(hub, { endpoints })]);
    const client = await registerClient(gate);
    const { claims } = await client.redeem((await login(client)).url);
    expect(claims.sub).toMatch(/^tk-[0-9a-f]{32}$/);
    const owner = { clientId: client.id, userId: String(claims.sub) };
    const entry = await gate.tokensOf(String(claims.tsid), 'hub', owner);
    expect(entry?.accessToken.reveal()).toBe(hub.accessToken());
    expect(entry?.refreshToken?.reveal()).toBe(hub.refreshToken());
  });

  it('may be down when the gate starts', async () => {
    await using corp = await startIdentityProvider({ user: 'alice' });
    corp.faults.down = true;
    await using gate = await startGate([corpOf(corp)]);
    expect(gate.statuses()).toEqual([{ name: 'corp', state: 'unknown' }]);
    const client = await registerClient(gate);
    expect(errorOf(await login(client))).toBe('temporarily_unavailable');
    expect(gate.statuses()).toMatchObject([{ name: 'corp', state: 'unavailable' }]);
    corp.faults.down = false;
    gate.wait(6);
    expect((await client.redeem((await login(client)).url)).status).toBe(200);
  });
});

describe('a provider that is connected later', () => {
  async function startWithout(): Promise<
    World & {
      client: TestClient;
      endLogin: () => Promise<void>;
      owner: { clientId: string; userId: string };
      grant: string;
    }
  > {
    const corp = await startIdentityProvider({ user: 'alice' });
    const hub = await startOAuth2Provider({ automatic: true });
    const gate = await startGate([corpOf(corp), hubOf(hub, { required: false })]);
    const client = await registerClient(gate);
    const { url } = await login(client);
    const { claims } = await client.redeem(url);
    return {
      corp,
      hub,
      gate,
      client,
      // The second use of a code ends what came of the first.
      endLogin: async () => void (await client.redeem(url)),
      owner: { clientId: client.id, userId: String(claims.sub) },
      grant: String(claims.tsid),
      async [Symbol.asyncDispose]() {
        for (const one of [gate, corp, hub]) await one[Symbol.asyncDispose]();
      },
    };
  }

  it('gives its tokens to the grant of the user who comes', async () => {
    await using world = await startWithout();
    const { gate, hub, corp, grant, owner } = world;
    const before = await gate.tokensOf(grant, 'corp', owner);
    const page = await createTestBrowser().travel((await gate.startConnection(grant, 'hub')) ?? '');
    expect(page.body).toContain('hub connected');
    expect((await gate.tokensOf(grant, 'hub', owner))?.accessToken.reveal()).toBe(hub.accessToken());
    // What showed who it is stays out of it.
    const after = await gate.tokensOf(grant, 'corp', owner);
    expect(after?.accessToken.reveal()).toBe(before?.accessToken.reveal());
    expect(after?.accessToken.reveal()).not.toBe(corp.accessTokenOf('alice'));
  });

  it('gives nothing to a grant whose user is somebody else', async () => {
    await using world = await startWithout();
    const { gate, hub, corp, grant, owner } = world;
    const address = (await gate.startConnection(grant, 'hub')) ?? '';
    corp.user = 'bob';
    const page = await createTestBrowser().travel(address);
    expect(page.status).toBe(403);
    expect(page.body).toContain('somebody else');
    expect(hub.calls('authorize')).toBe(0);
    expect(await gate.tokensOf(grant, 'hub', owner)).toBeUndefined();
    expect(await gate.tokensOf(grant, 'corp', owner)).toBeDefined();
  });

  it('is for the browser that opened the link first', async () => {
    await using world = await startWithout();
    const { gate, hub, grant, owner } = world;
    const address = (await gate.startConnection(grant, 'hub')) ?? '';
    const attacker = createTestBrowser();
    const atHub = await attacker.travel(address, { until: (url) => url.href.startsWith(hub.authorizationEndpoint) });
    const other = createTestBrowser();
    for (const step of ['', '/next', '/finish']) expect((await other.travel(`${address}${step}`)).status).toBe(404);
    expect((await createTestBrowser().travel(atHub.url)).status).toBe(403);
    expect(await gate.tokensOf(grant, 'hub', owner)).toBeUndefined();
    expect(hub.calls('token')).toBe(0);
  });

  it('that refuses leaves the login as it was', async () => {
    await using world = await startWithout();
    const { gate, hub, grant, owner } = world;
    hub.faults.deny = true;
    const page = await createTestBrowser().travel((await gate.startConnection(grant, 'hub')) ?? '');
    expect(page.status).toBe(403);
    expect(await gate.tokensOf(grant, 'hub', owner)).toBeUndefined();
    expect(await gate.tokensOf(grant, 'corp', owner)).toBeDefined();
  });

  it('can be the first one again, when its tokens are of no use any more', async () => {
    await using world = await startWithout();
    const { gate, corp, grant, owner } = world;
    await createTestBrowser().travel((await gate.startConnection(grant, 'corp')) ?? '');
    expect((await gate.tokensOf(grant, 'corp', owner))?.accessToken.reveal()).toBe(corp.accessTokenOf('alice'));
  });

  it('is of no use to a login that ended meanwhile', async () => {
    await using world = await startWithout();
    const { gate, grant, owner } = world;
    const browser = createTestBrowser();
    const address = (await gate.startConnection(grant, 'hub')) ?? '';
    const last = await browser.travel(address, { until: ({ pathname }) => pathname.endsWith('/finish') });
    await world.endLogin();
    const page = await browser.travel(last.url);
    expect(page.status).toBe(500);
    expect(page.body).toContain('could not be completed');
    expect(await gate.tokensOf(grant, 'hub', owner)).toBeUndefined();
    expect(eventsOf(gate).at(-1)).toMatchObject({ message: 'auth.failed', incident: incidentOf(page) });
  });

  it('has to be configured, and its login has to stand', async () => {
    await using world = await startWithout();
    expect(await world.gate.startConnection('no such grant', 'hub')).toBeUndefined();
    await expect(world.gate.startConnection(world.grant, 'nobody')).rejects.toThrow(/no provider/);
  });
});
