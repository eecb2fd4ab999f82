import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Boundaries, startBoundaries } from '../support/boundaries.ts';
import type { Caller } from '../support/caller.ts';
import { createTestBrowser } from '../support/cookie-jar.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.ts';
import { type RedisServer, startRedis } from '../support/redis.ts';
import { type Finished, sally, type TempFolder, tempFolder } from '../support/sally.ts';

/** Two processes over one store, and a provider that is down. */
let home: TempFolder;
let redis: RedisServer;
let corp: IdentityProvider;
let hub: IdentityProvider;
let lost: IdentityProvider;
let code: RecordingServer;
let gate: Boundaries;

const BOTH = [0, 1];

beforeAll(async () => {
  [home, redis, corp, hub, lost, code] = await Promise.all([
    tempFolder(),
    startRedis(),
    startIdentityProvider({ name: 'corp' }),
    startIdentityProvider({ name: 'hub' }),
    startIdentityProvider({ name: 'lost' }),
    startRecordingServer({ era: 'modern' }),
  ]);
  lost.faults.down = true;
  gate = await startBoundaries({
    providers: { corp, hub, lost },
    optional: ['lost'],
    backends: { code: { server: code, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'hub' } } } },
    authServer: { storage: { type: 'redis', redis: { addr: redis.address } } },
    replicas: 2,
    home: home.path,
  });
});

afterAll(async () => {
  for (const one of [gate, code, corp, hub, lost, redis, home]) await one?.[Symbol.asyncDispose]();
});

const auth = (...args: string[]): Promise<Finished> => sally(['auth', ...args], { env: { SALLYPORT_HOME: home.path } });

interface Session {
  readonly id: string;
  readonly user: { readonly id: string; readonly email: string };
  readonly connections: readonly Record<string, unknown>[];
}

async function sessionsOf(user: string): Promise<readonly Session[]> {
  const { stdout } = await auth('sessions', '--user', user, '--format', 'json');
  const [report, ...others] = JSON.parse(stdout);
  expect(others).toEqual([]); // both processes know the same logins
  return report.sessions;
}

async function statuses(caller: Caller): Promise<readonly number[]> {
  return await Promise.all(BOTH.map(async (replica) => (await caller.call('code_whoami', { replica })).status));
}

describe('sally auth', () => {
  it('sessions shows who is logged in, and nothing that could be used', async () => {
    const alice = await gate.login('alice');
    await alice.seenBy('code', { replica: 0 });
    const { code: exit, stdout } = await auth('sessions');
    expect(exit).toBe(0);
    expect(stdout).toContain(`default/gate, users see their own at ${gate.issuer}/oauth/connections`);
    expect(stdout).toMatch(/^LOGIN {2,}USER {2,}CLIENT {2,}SINCE {2,}LAST USE {2,}CONNECTED$/m);
    expect(stdout).toMatch(/^[0-9a-f]{16} +alice@example\.test +Test +\d+s ago +\d+s ago +corp, hub$/m);
    const json = JSON.stringify(await sessionsOf('alice@example.test'));
    const [, claims = ''] = alice.accessToken.split('.');
    const { tsid } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    for (const secret of [tsid, alice.accessToken, alice.refreshToken, hub.accessTokenOf('alice')]) {
      expect(`${stdout}${json}`).not.toContain(secret);
    }
  });

  it('status shows each connection, and the repair of a provider that is down', async () => {
    await gate.login('bob');
    const { stdout } = await auth('status', 'bob@example.test');
    expect(stdout).toMatch(/^PROVIDER {2}STATE {8}WHAT TO DO$/m);
    expect(stdout).toMatch(/^corp {6}ready$/m);
    expect(stdout).toMatch(/^lost {6}unavailable {2}provider lost: cannot be reached/m);
    expect(stdout).toMatch(/bob@example\.test {2}hub {7}connected {6}openid profile email {2}renewed by itself/);
    expect(stdout).toMatch(/bob@example\.test {2}lost {6}not connected .*provider lost: cannot be reached/);
    expect(stdout).not.toContain('alice');
    const [{ connections }] = (await sessionsOf('bob@example.test')) as [Session];
    expect(connections).toEqual([
      expect.objectContaining({ provider: 'corp', state: 'connected', account: 'bob@example.test', renewed: true }),
      expect.objectContaining({ provider: 'hub', state: 'connected', backends: ['code'], expires: expect.any(String) }),
      expect.objectContaining({
        provider: 'lost',
        state: 'none',
        repair: expect.stringContaining('cannot be reached'),
      }),
    ]);
  });

  it('revoke ends one login, at once in every process, and leaves the others', async () => {
    const ended = await gate.login('alice');
    const [{ id }] = (await sessionsOf('alice@example.test')) as [Session];
    const other = await gate.login('alice');
    expect(await statuses(ended)).toEqual([200, 200]);
    expect(await auth('revoke', id)).toEqual({ code: 0, stdout: '1 login ended\n', stderr: '' });
    expect(await statuses(ended)).toEqual([401, 401]);
    await expect(ended.refreshed()).rejects.toThrow('invalid_grant');
    expect(await statuses(other)).toEqual([200, 200]);
    expect((await sessionsOf('alice@example.test')).map((session) => session.id)).not.toContain(id);
    const again = await auth('revoke', id);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain(`error[login.unknown]: no gateway that runs here has the login ${id}`);
  });

  it('revoke --user ends all logins of a user, by his address or his id, and nobody else’s', async () => {
    const alice = await gate.login('alice');
    const bob = await gate.login('bob');
    const count = (await sessionsOf('alice@example.test')).length;
    const { stdout } = await auth('revoke', '--user', 'Alice@Example.test', '--format', 'json');
    expect(JSON.parse(stdout)).toEqual({ ended: count });
    expect([await statuses(alice), await statuses(bob)]).toEqual([
      [401, 401],
      [200, 200],
    ]);
    const [{ user }] = (await sessionsOf('bob@example.test')) as [Session];
    expect((await auth('revoke', '--user', user.id)).code).toBe(0);
    expect(await statuses(bob)).toEqual([401, 401]);
    expect((await auth('revoke', '--user', 'nobody@example.test')).code).toBe(1);
  });

  it('revoke --all ends every login', async () => {
    await auth('revoke', '--all');
    const callers = [await gate.login('alice'), await gate.login('bob')];
    expect((await auth('revoke', '--all')).stdout).toBe('2 logins ended\n');
    for (const caller of callers) expect(await statuses(caller)).toEqual([401, 401]);
    expect((await auth('sessions')).stdout).toContain('nobody is logged in');
  });

  it.each([[[]], [['abc', '--all']], [['--user', 'x', '--all']], [['--user', '']]])(
    'revoke %j is refused: it must be clear what is meant',
    async (args) => {
      const { code: exit, stderr } = await auth('revoke', ...args);
      expect(exit).toBe(2);
      expect(stderr).toContain('say which logins are meant');
    },
  );

  it('says so where nothing runs', async () => {
    await using empty = await tempFolder();
    const env = { SALLYPORT_HOME: empty.path };
    for (const command of ['sessions', 'status']) {
      const { code: exit, stdout } = await sally(['auth', command], { env });
      expect({ exit, stdout }).toMatchObject({ exit: 0, stdout: expect.stringContaining('Nothing runs') });
    }
    expect((await sally(['auth', 'revoke', '--all'], { env })).stderr).toContain('error[login.unknown]');
  });
});

describe('two processes with one store', () => {
  it('forget a token in both when its user disconnects a provider in one, and find the new one in both', async () => {
    const alice = await gate.login('alice');
    expect(await statuses(alice)).toEqual([200, 200]); // both remember it now
    const browser = createTestBrowser();
    const question = await browser.travel(`${gate.issuer}/oauth/connections`);
    const page = await browser.submit(question, { user: 'alice' });
    const login = /id="login-([0-9a-f]{16})"/.exec(page.body)?.[1] ?? '';
    await browser.submit(page, { do: 'disconnect', login, provider: 'hub' });
    expect(await statuses(alice)).toEqual([401, 401]);
    let answer = await browser.submit(page, { do: 'connect', login, provider: 'hub' });
    while (answer.body.includes('name="user"')) answer = await browser.submit(answer, { user: 'alice' });
    expect(answer.url.pathname).toBe('/oauth/connections');
    for (const replica of BOTH) {
      expect((await alice.seenBy('code', { replica })).authorization).toBe(`Bearer ${hub.accessTokenOf('alice')}`);
    }
  });

  it('tell when a login was last used, whichever of them was used', async () => {
    const bob = await gate.login('bob');
    await bob.seenBy('code', { replica: 1 });
    const [session] = await sessionsOf('bob@example.test');
    expect(session).toMatchObject({ lastUse: expect.any(String) });
  });
});
