import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { post } from '../security/support/wire.ts';
import { type Answered, type Caller, createLogin, outcomeOf } from '../support/caller.ts';
import { type IdentityProvider, startIdentityProvider } from '../support/identity-provider.ts';
import { installServers } from '../support/mcp-servers.ts';
import { freePort } from '../support/processes.ts';
import { ROOT, type RunningSally, sally, startSally, type TempFolder, tempFolder } from '../support/sally.ts';
import { startTokenExchange, type TokenExchange } from '../support/token-exchange.ts';
import { startTokenIssuer, type TokenIssuer } from '../support/token-issuer.ts';

/** One MCPServer alone at its `proxyPort`, with both boundaries, and what its process gets to see. */

vi.setConfig({ testTimeout: 60_000 });

let corp: IdentityProvider;
let exchange: TokenExchange;
let issuer: TokenIssuer;
let folder: TempFolder;
/** Tokens of callers of `issuer`. */
const callers = new Map<string, string>();

beforeAll(async () => {
  corp = await startIdentityProvider({ name: 'corp' });
  exchange = await startTokenExchange({ userOf: async (token) => callers.get(token) ?? (await corp.userOf(token)) });
  issuer = await startTokenIssuer({ audience: 'api://web' });
  folder = await tempFolder();
  await installServers(folder.path, ['web', 'good']);
});
afterAll(async () => {
  await Promise.all([corp, exchange, issuer, folder].map((one) => one?.[Symbol.asyncDispose]()));
});

function resource(kind: string, name: string, spec: object): object {
  return { apiVersion: 'sallyport.dev/v1alpha1', kind, metadata: { name }, spec };
}

interface Door extends AsyncDisposable {
  readonly url: string;
  readonly issuer: string;
  readonly sally: RunningSally;
  login(user: string): Promise<Caller>;
  /** Writes the server anew with other fields, and waits until they are taken over. */
  reload(spec: object): Promise<void>;
}

interface DoorSetup {
  /** Fields of the MCPServer. */
  readonly spec: (issuer: string) => object;
  readonly others: (issuer: string) => readonly object[];
}

/** The real `sally vmcp serve` with nothing but this server. */
async function openDoor({ spec, others }: DoorSetup): Promise<Door> {
  const port = await freePort();
  const own = `http://127.0.0.1:${port}`;
  const file = join(folder.path, `door-${port}.yaml`);
  const write = (more: object = {}) => {
    const server = { image: 'npx://web', transport: 'streamable-http', proxyPort: port, ...spec(own), ...more };
    // JSON is YAML.
    const all = [resource('MCPServer', 'web', server), ...others(own)];
    return writeFile(file, all.map((one) => JSON.stringify(one)).join('\n---\n'));
  };
  await write();
  const env = {
    SALLYPORT_SECRET_CORP_CLIENT: corp.client.secret,
    SALLYPORT_SECRET_EXCHANGE_CLIENT: exchange.client.secret,
    SALLYPORT_SECRET_WEB_HMAC: randomBytes(32).toString('base64url'),
    SALLYPORT_SECRET_KEYS_WEB: 'the key that all users share',
  };
  const running = await startSally(['vmcp', 'serve', '-f', file], { env });
  const url = `${own}/mcp`;
  return {
    url,
    issuer: own,
    sally: running,
    login: createLogin({ url, issuer: own, replicas: [url] }),
    async reload(more) {
      await write(more);
      await running.next('reloaded');
    },
    [Symbol.asyncDispose]: async () => void (await running.stop()),
  };
}

const exchangeSpec = (more: object = {}): object => ({
  type: 'tokenExchange',
  tokenExchange: {
    tokenUrl: exchange.tokenUrl,
    clientId: exchange.client.id,
    clientSecretRef: { name: 'exchange', key: 'client' },
    audience: 'web',
    ...more,
  },
});

const loginSpec = (own: string): object => ({
  type: 'embeddedAuthServer',
  embeddedAuthServer: {
    issuer: own,
    consent: 'skip',
    hmacSecretRefs: [{ name: 'web', key: 'hmac' }],
    upstreamProviders: [
      {
        name: 'corp',
        type: 'oidc',
        oidcConfig: {
          issuerUrl: corp.issuer,
          clientId: corp.client.id,
          clientSecretRef: { name: 'corp', key: 'client' },
        },
      },
    ],
  },
});

const withLogin = (more: object = {}, credential?: object): DoorSetup => ({
  spec: (own) => ({
    oidcConfigRef: { name: 'callers', audience: `${own}/mcp` },
    authServerRef: { kind: 'MCPExternalAuthConfig', name: 'login' },
    ...(credential ? { externalAuthConfigRef: { name: 'credential' } } : {}),
    ...more,
  }),
  others: (own) => [
    resource('MCPOIDCConfig', 'callers', { type: 'inline', inline: { issuer: own } }),
    resource('MCPExternalAuthConfig', 'login', loginSpec(own)),
    ...(credential ? [resource('MCPExternalAuthConfig', 'credential', credential)] : []),
  ],
});

const withIssuer = (credential: object): DoorSetup => ({
  spec: () => ({
    oidcConfigRef: { name: 'callers', audience: issuer.audience },
    externalAuthConfigRef: { name: 'credential' },
  }),
  others: () => [
    resource('MCPOIDCConfig', 'callers', { type: 'inline', inline: { issuer: issuer.url, jwksAllowPrivateIP: true } }),
    resource('MCPExternalAuthConfig', 'credential', credential),
  ],
});

function seenIn({ json }: Answered): Record<string, string | undefined> {
  const text = json?.result?.content?.[0]?.text;
  if (text === undefined) throw new Error(`the server was not reached: ${JSON.stringify(json)}`);
  return JSON.parse(text);
}
const seenBy = async (caller: Caller) => seenIn(await caller.call('whoami'));

async function callWith(url: string, token: string): Promise<Record<string, string | undefined>> {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'whoami', arguments: {} } };
  const answer = await post(new URL(url), message, { authorization: `Bearer ${token}` });
  return seenIn({ status: answer.status, headers: answer.headers, json: JSON.parse(answer.body) });
}

describe('a login in front of one server', () => {
  it('answers at its port beside the endpoint, and swaps in what the user has at the provider', async () => {
    await using door = await openDoor(withLogin());
    const refused = await fetch(door.url, { method: 'POST', body: '{}' });
    expect(refused.status).toBe(401);
    expect(refused.headers.get('www-authenticate')).toContain(
      `${door.issuer}/.well-known/oauth-protected-resource/mcp`,
    );
    const metadata = await fetch(`${door.issuer}/.well-known/oauth-protected-resource/mcp`).then((one) => one.json());
    expect(metadata).toMatchObject({ resource: door.url, authorization_servers: [door.issuer] });
    const discovery = await fetch(`${door.issuer}/.well-known/oauth-authorization-server`).then((one) => one.json());
    expect(discovery).toMatchObject({ issuer: door.issuer });

    const tokens: string[] = [];
    for (const user of ['alice', 'bob']) {
      const caller = await door.login(user);
      tokens.push(caller.accessToken, caller.refreshToken);
      const seen = await seenBy(caller);
      expect(seen.authorization).toBe(`Bearer ${corp.accessTokenOf(user)}`);
      for (const token of tokens) expect(JSON.stringify(seen)).not.toContain(token);
    }
    // Its tools keep their names.
    const { json } = await (await door.login('alice')).request('tools/list');
    expect(json.result.tools.map(({ name }: { name: string }) => name)).toEqual(['whoami', 'env']);
  });

  it('is found in externalAuthConfigRef too', async () => {
    const { others, spec } = withLogin({ authServerRef: undefined, externalAuthConfigRef: { name: 'login' } });
    await using door = await openDoor({ others, spec });
    expect((await seenBy(await door.login('alice'))).authorization).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
  });

  it('outlives a reload, and a login that ended is asked for again with a challenge', async () => {
    await using door = await openDoor(withLogin());
    const alice = await door.login('alice');
    await seenBy(alice);
    await door.reload({ env: [{ name: 'LEVEL', value: 'debug' }] });
    expect((await seenBy(alice)).authorization).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
    await alice.revoke();
    const over = await alice.call('whoami');
    expect(outcomeOf(over)).toBe('401');
    expect(over.headers['www-authenticate']).toContain('resource_metadata=');
  });

  it.each<[string, object, string, (caller: Caller) => string | undefined]>([
    [
      'a token in exchange for that of the provider',
      { subjectProviderName: 'corp' },
      'authorization',
      () => corp.accessTokenOf('alice'),
    ],
    ['a token in exchange for the one that we issued', {}, 'authorization', ({ accessToken }) => accessToken],
    [
      'a token in a header of its own',
      { subjectProviderName: 'corp', externalTokenHeaderName: 'X-Upstream' },
      'x-upstream',
      () => corp.accessTokenOf('alice'),
    ],
  ])('gives the server what is named instead: %s', async (_what, more, header, subject) => {
    await using door = await openDoor(withLogin({}, exchangeSpec(more)));
    const caller = await door.login('alice');
    callers.set(caller.accessToken, 'alice');
    const seen = await seenBy(caller);
    const made = exchange.exchanges.at(-1);
    expect(seen[header]).toBe(`Bearer ${made?.token}`);
    expect(Object.keys(seen).filter((name) => ['authorization', 'x-upstream'].includes(name))).toEqual([header]);
    expect(made?.form.get('subject_token')).toBe(subject(caller));
  });

  it('asks for the login alone where that is said, also for a server without headers', async () => {
    const stdio = { image: 'npx://good', transport: 'stdio' };
    await using door = await openDoor(withLogin(stdio, { type: 'unauthenticated' }));
    expect(outcomeOf(await (await door.login('alice')).call('pid'))).toBe('ok');
    expect((await fetch(door.url, { method: 'POST', body: '{}' })).status).toBe(401);

    const silent = openDoor(withLogin(stdio));
    await expect(silent).rejects.toThrow('cannot hand the token of `corp` to a server that speaks stdio');
  });

  it('is the one of the documentation', async () => {
    const page = await readFile(join(ROOT, 'docs/authentication.md'), 'utf8');
    const [, yaml = ''] = /## A login in front of one server.*?```yaml\n(.*?)```/s.exec(page) ?? [];
    expect(yaml).toContain('kind: MCPServer');
    const port = await freePort();
    const file = join(folder.path, `docs-${port}.yaml`);
    const here = yaml
      .replaceAll('https://notes.example.net', `http://127.0.0.1:${port}`)
      .replace('https://login.example.net', corp.issuer)
      .replace('clientId: notes', `clientId: ${corp.client.id}`)
      .replace(/image: .*/, 'image: npx://web')
      .replace(/proxyPort: .*/, `proxyPort: ${port}`);
    await writeFile(file, here);
    const env = { SALLYPORT_SECRET_CORP_CLIENT_SECRET: corp.client.secret };
    await using running = await startSally(['vmcp', 'serve', '-f', file], { env });
    const url = `http://127.0.0.1:${port}/mcp`;
    expect(running.endpoints).toMatchObject([{ url }]);
    const login = createLogin({ url, issuer: `http://127.0.0.1:${port}`, replicas: [url] });
    expect((await seenBy(await login('alice'))).authorization).toBe(`Bearer ${corp.accessTokenOf('alice')}`);
  });
});

describe('callers with tokens of an issuer elsewhere', () => {
  it('get a token for the server in exchange, each his own', async () => {
    await using door = await openDoor(withIssuer(exchangeSpec()));
    for (const user of ['alice', 'bob']) {
      const token = await issuer.token({ sub: user });
      callers.set(token, user);
      const seen = await callWith(door.url, token);
      expect(exchange.userOf((seen.authorization ?? '').replace('Bearer ', ''))).toBe(user);
      expect(exchange.exchanges.at(-1)?.form.get('subject_token')).toBe(token);
      expect(JSON.stringify(seen)).not.toContain(token);
    }
    const other = await issuer.token({ aud: 'api://other' });
    callers.set(other, 'mallory');
    expect((await fetch(door.url, { method: 'POST', headers: { authorization: `Bearer ${other}` } })).status).toBe(401);
  });

  it('may be served by a key that is the same for all', async () => {
    const key = {
      type: 'headerInjection',
      headerInjection: { headerName: 'X-Key', valueSecretRef: { name: 'keys', key: 'web' } },
    };
    await using door = await openDoor(withIssuer(key));
    const seen = await callWith(door.url, await issuer.token());
    expect(seen).toMatchObject({ 'x-key': 'the key that all users share' });
    expect(seen.authorization).toBeUndefined();
  });
});

it('a folder without anything to serve says what is missing', async () => {
  const file = join(folder.path, 'nothing.yaml');
  await writeFile(file, JSON.stringify(resource('MCPServer', 'web', { image: 'npx://web' })));
  const refused = await sally(['vmcp', 'serve', '-f', file, '--port', '0']);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('no MCPServer with a proxyPort') });
});
