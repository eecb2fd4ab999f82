import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { messageOf, modern, post, textOf } from '../security/support/wire.ts';
import { type RecordingServer, startRecordingServer } from '../support/recording-server.ts';
import { type RunningSally, sally, startSally, type TempFolder, tempFolder } from '../support/sally.ts';
import { startTokenExchange, type TokenExchange } from '../support/token-exchange.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';
import { type View, workloadHome } from '../support/workloads.ts';

/** Each flag of the token exchange of `sally run`, and what it changes for the server behind it. */

vi.setConfig({ testTimeout: 120_000 });

const AUDIENCE = 'api://desk';
const SECRET = 'hush-hush';
const VARIABLE = 'SALLYPORT_TOKEN_EXCHANGE_CLIENT_SECRET';

let issuer: TokenIssuer;
let exchange: TokenExchange;
let backend: RecordingServer;
let folder: TempFolder;
let secretFile: string;
/** Tokens of callers, with whom each is of. None of them may ever reach the server. */
const callers = new Map<string, string>();

beforeAll(async () => {
  [issuer, backend, folder, exchange] = await Promise.all([
    startTokenIssuer({ audience: AUDIENCE }),
    startRecordingServer(),
    tempFolder(),
    startTokenExchange({ userOf: async (token) => callers.get(token) }),
  ]);
  secretFile = join(folder.path, 'secret');
  await writeFile(secretFile, `${SECRET}\n`);
});
afterAll(async () => {
  await Promise.all([issuer, exchange, backend, folder].map((one) => one[Symbol.asyncDispose]()));
});
beforeEach(() => {
  exchange.client = { id: 'gate', secret: SECRET };
  exchange.isPublic = false;
  exchange.subjectTokenType = 'access_token';
  delete exchange.faults.error;
  delete exchange.faults.status;
});

const boundary1 = (): string[] => ['--oidc-issuer', issuer.url, '--oidc-audience', AUDIENCE, '--jwks-allow-private-ip'];
const boundary2 = (): string[] => ['--token-exchange-url', exchange.tokenUrl, '--token-exchange-client-id', 'gate'];
const withFile = (): string[] => [...boundary1(), ...boundary2(), '--token-exchange-client-secret-file', secretFile];

function run(flags: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<RunningSally> {
  return startSally(['run', '-f', ...flags, backend.url], { env });
}

async function tokenOf(user: string): Promise<string> {
  const token = await issuer.token({ sub: user, jti: String(callers.size) });
  callers.set(token, user);
  return token;
}

async function call(url: string | undefined, token: string, tool = 'whoami') {
  const { message, headers } = modern(1, 'tools/call', { name: tool, arguments: {} });
  return await post(new URL(url ?? ''), message, { ...headers, authorization: `Bearer ${token}` });
}

/** The headers that the server saw with a call of this user. */
async function seenOf(url: string | undefined, token: string): Promise<Record<string, string>> {
  const answer = await call(url, token);
  const text = textOf(answer);
  if (typeof text !== 'string') throw new Error(`the server was not reached: ${answer.status} ${answer.body}`);
  return JSON.parse(text);
}

const urlOf = ({ endpoints }: RunningSally): string | undefined => endpoints[0]?.url;
const lastForm = (): Record<string, string> => Object.fromEntries(exchange.exchanges.at(-1)?.form ?? []);

describe('the server gets', () => {
  it('--token-exchange-url: a token made for it, another one for each user, and never that of the caller', async () => {
    await using running = await run(withFile());
    for (const user of ['alice', 'bob']) {
      const token = await tokenOf(user);
      const { authorization = '' } = await seenOf(urlOf(running), token);
      expect(exchange.userOf(authorization.replace('Bearer ', ''))).toBe(user);
      expect(lastForm()).toEqual({
        grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
        subject_token: token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
        requested_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      });
    }
    expect(running.endpoints[0]?.backends).toMatchObject([{ state: 'personal' }]);
    expect(running.stderr()).not.toContain(SECRET);
  });

  it('--token-exchange-audience, --token-exchange-scopes: one that is asked for with them', async () => {
    const scopes = ['--token-exchange-scopes', 'read,write', '--token-exchange-scopes', 'list'];
    await using running = await run([...withFile(), '--token-exchange-audience', 'notes', ...scopes]);
    await seenOf(urlOf(running), await tokenOf('alice'));
    expect(lastForm()).toMatchObject({ audience: 'notes', scope: 'read write list' });
  });

  it('--token-exchange-header-name: it in this header, and nothing in Authorization', async () => {
    await using running = await run([...withFile(), '--token-exchange-header-name', 'X-Upstream']);
    const seen = await seenOf(urlOf(running), await tokenOf('alice'));
    expect(exchange.userOf((seen['x-upstream'] ?? '').replace('Bearer ', ''))).toBe('alice');
    expect(seen.authorization).toBeUndefined();
  });

  it('--token-exchange-subject-token-type: one for what the token of the caller is said to be', async () => {
    exchange.subjectTokenType = 'id_token';
    await using running = await run([...withFile(), '--token-exchange-subject-token-type', 'id_token']);
    await seenOf(urlOf(running), await tokenOf('alice'));
    expect(lastForm()).toMatchObject({ subject_token_type: 'urn:ietf:params:oauth:token-type:id_token' });
  });

  it.each<[string, string[], Record<string, string>]>([
    ['--token-exchange-client-secret', ['--token-exchange-client-secret', SECRET], {}],
    [VARIABLE, [], { [VARIABLE]: SECRET }],
  ])('%s: one that the same client asks for', async (_name, flags, env) => {
    await using running = await run([...boundary1(), ...boundary2(), ...flags], env);
    expect((await seenOf(urlOf(running), await tokenOf('alice'))).authorization).toMatch(/^Bearer exchanged-/);
    expect(running.stderr()).not.toContain(SECRET);
  });

  it('--token-exchange-client-id: one that a client without a secret asks for by its name', async () => {
    exchange.isPublic = true;
    await using running = await run([...boundary1(), ...boundary2()]);
    await seenOf(urlOf(running), await tokenOf('alice'));
    expect(lastForm()).toMatchObject({ client_id: 'gate' });
  });

  it('one exchange for many calls, and a new one when the server refuses what it was shown', async () => {
    await using running = await run(withFile());
    const token = await tokenOf('alice');
    const { authorization } = await seenOf(urlOf(running), token);
    const before = exchange.exchanges.length;
    await Promise.all(Array.from({ length: 10 }, () => seenOf(urlOf(running), token)));
    expect(exchange.exchanges.length).toBe(before);
    backend.admits = (headers) => headers.authorization !== authorization;
    expect((await seenOf(urlOf(running), token)).authorization).not.toBe(authorization);
    backend.admits = () => true;
  });
});

describe('nothing reaches the server', () => {
  it('of a caller whose token is not good here', async () => {
    await using running = await run(withFile());
    const [seen, made] = [backend.seen.length, exchange.exchanges.length];
    for (const token of [await issuer.token({ aud: 'api://other' }), 'nonsense']) {
      callers.set(token, 'mallory');
      expect((await call(urlOf(running), token)).status).toBe(401);
    }
    expect([backend.seen.length, exchange.exchanges.length]).toEqual([seen, made]);
  });

  it.each<[string, TokenExchange['faults']]>([
    ['outgoing.exchange_refused', { error: 'invalid_target' }],
    ['outgoing.unavailable', { status: 503 }],
  ])('when the exchange fails: %s', async (code, faults) => {
    await using running = await run(withFile());
    Object.assign(exchange.faults, faults);
    const seen = backend.seen.length;
    const answer = await call(urlOf(running), await tokenOf('alice'));
    expect(messageOf(answer).error).toMatchObject({ data: { code } });
    expect(answer.body).not.toContain(SECRET);
    expect(backend.seen.length).toBe(seen);
  });

  it('of the tokens of callers, in any request of this file so far', () => {
    expect(backend.seen.length).toBeGreaterThan(20);
    const requests = JSON.stringify(backend.seen);
    for (const token of callers.keys()) expect(requests).not.toContain(token);
  });
});

it.each<[string, () => string[], string]>([
  ['without callers who show a token', () => boundary2(), 'add --oidc-issuer and --oidc-audience'],
  ['without an endpoint', () => [...boundary1(), '--token-exchange-audience', 'x'], 'needs --token-exchange-url'],
  [
    'with two secrets',
    () => [...withFile(), '--token-exchange-client-secret', 'x'],
    "'--token-exchange-client-secret <secret>' cannot be used with",
  ],
  ['with a type that is none', () => [...withFile(), '--token-exchange-subject-token-type', 'saml2'], 'access_token'],
  ['with a header of the protocol', () => [...withFile(), '--token-exchange-header-name', 'Accept'], 'header of MCP'],
  [
    'that shows tokens to the network',
    () => [...boundary1(), '--token-exchange-url', 'http://idp.example/token'],
    'must be an https URL',
  ],
])('an exchange %s is refused before anything starts', async (_what, flags, words) => {
  const refused = await sally(['run', '-f', ...flags(), backend.url]);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
});

function expectNoSecretIn(processes: readonly number[]): void {
  expect(processes).not.toEqual([]);
  for (const pid of processes) expect(readFileSync(`/proc/${pid}/cmdline`, 'utf8')).not.toContain(SECRET);
}

describe('in the background', () => {
  it('it lasts over stop and start, update, export and import, and the secret is written nowhere', async () => {
    await using home = await workloadHome([]);
    const flags = [...withFile(), '--token-exchange-audience', 'old', '--token-exchange-header-name', 'X-Upstream'];
    const { url } = await home.json<{ url: string }>(['run', backend.url, '--name', 'notes', ...flags]);
    const audienceNow = async (): Promise<string | undefined> => {
      const seen = await seenOf(url, await tokenOf('alice'));
      expect(exchange.userOf((seen['x-upstream'] ?? '').replace('Bearer ', ''))).toBe('alice');
      return lastForm().audience;
    };
    expect(await audienceNow()).toBe('old');
    expect(await home.json<View>(['status', 'notes'])).toMatchObject({ status: 'running' });
    expectNoSecretIn(home.processes());

    await home.ok(['stop', 'notes']);
    await home.ok(['start', 'notes']);
    expect(await audienceNow()).toBe('old');
    await home.ok(['update', 'notes', '--token-exchange-audience', 'new']);
    expect(await audienceNow()).toBe('new');

    await home.ok(['export', 'notes', 'notes.json']);
    const exported = await readFile(join(home.folder, 'notes.json'), 'utf8');
    expect(JSON.parse(exported)).toMatchObject({
      token_exchange_config: { audience: 'new', client_id: 'gate', client_secret_ref: `file:${secretFile}` },
    });
    const state = await readFile(join(home.env.SALLYPORT_HOME ?? '', 'state/workloads/notes/workload.json'), 'utf8');
    const logs = await home.ok(['logs', '--supervisor', 'notes']);
    for (const text of [exported, state, logs]) expect(text).not.toContain(SECRET);
    await home.ok(['rm', 'notes']);
    await home.ok(['run', '--from-config', 'notes.json']);
    expect(await audienceNow()).toBe('new');
  });

  it('a secret of the store is handed over without being written down', async () => {
    await using home = await workloadHome([]);
    await home.ok(['run', backend.url, '--name', 'notes', ...boundary1(), ...boundary2()]);
    await home.ok(['export', 'notes', 'notes.json']);
    await home.ok(['rm', 'notes']);
    const file = join(home.folder, 'notes.json');
    const config = JSON.parse(await readFile(file, 'utf8'));
    config.token_exchange_config.client_secret_ref = 'secret:exchange';
    await writeFile(file, JSON.stringify(config));
    const missing = await home.sally(['run', '--from-config', 'notes.json']);
    expect(missing.stderr).toContain('exchange');
    expect(missing.code).not.toBe(0);
    const env = { SALLYPORT_SECRETS_PROVIDER: 'environment', SALLYPORT_SECRET_EXCHANGE: SECRET };
    const started = await home.sally(['run', '--from-config', 'notes.json', '--format', 'json'], { env });
    expect(started).toMatchObject({ code: 0 });
    await seenOf(JSON.parse(started.stdout).url, await tokenOf('alice'));
  });

  it('a secret on the command line cannot be kept, and is refused', async () => {
    await using home = await workloadHome([]);
    const flags = [...boundary1(), ...boundary2(), '--token-exchange-client-secret', SECRET];
    const refused = await home.sally(['run', backend.url, '--name', 'notes', ...flags]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--token-exchange-client-secret-file') });
    expect(await home.json(['list', '--all'])).toEqual([]);
  });

  it('a server of our own gets the token, and nothing of the secret', async () => {
    await using home = await workloadHome(['web']);
    const run = ['run', 'npx://web', '--runtime', 'process', '--transport', 'streamable-http', '--format', 'json'];
    const env = { [VARIABLE]: SECRET };
    const { code, stdout, stderr } = await home.sally([...run, ...boundary1(), ...boundary2()], { env });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    const { url } = JSON.parse(stdout) as { url: string };
    const token = await tokenOf('alice');
    const { authorization = '' } = await seenOf(url, token);
    expect(exchange.userOf(authorization.replace('Bearer ', ''))).toBe('alice');
    const environment = String(textOf(await call(url, token, 'env')));
    expect(environment).toContain('MCP_PORT');
    expect(environment).not.toContain(SECRET);
    expectNoSecretIn(home.processes());
    const restarted = await home.sally(['restart', 'web']);
    expect(restarted).toMatchObject({ stderr: expect.stringContaining(VARIABLE) });
    expect(restarted.code).not.toBe(0);
  });

  it('a server of our own that does not come up is told with its last words, though nobody has called it', async () => {
    await using home = await workloadHome(['exits']);
    const run = ['run', 'npx://exits', '--runtime', 'process', '--transport', 'streamable-http'];
    const failed = await home.sally([...run, ...withFile()]);
    expect(failed.code).toBe(5);
    expect(failed.stderr).toContain('the licence file is missing');
    expect(await home.json(['list', '--all'])).toEqual([]);
  });
});
