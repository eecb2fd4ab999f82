import { createHash, randomBytes } from 'node:crypto';
import { Agent, createServer, type IncomingHttpHeaders, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type AuthServerMemory, createAuthServerMemory, LIMITS, type Limits } from '../../src/authserver/index.ts';
import { type Core, type CoreParts, createCore, type Login, type LoginParts } from '../../src/authserver/server.ts';
import type { Store } from '../../src/authserver/storage/store.ts';
import { createLog, type Route } from '../../src/base/index.ts';
import { createRouter, type Gateway } from '../../src/gateway/index.ts';
import type { AuthServerPlan } from '../../src/plan/index.ts';
import { createTestBrowser, type TestBrowser } from './cookie-jar.ts';

export interface AuthServerSetup {
  /** What differs from the usual plan. */
  readonly plan?: Partial<AuthServerPlan>;
  /** The path of the issuer. */
  readonly path?: string;
  /** Where the issuer says it is, if not where it really is. */
  readonly origin?: string;
  readonly memory?: AuthServerMemory;
  readonly limits?: Limits;
  readonly parts?: Partial<CoreParts>;
  /** Operations of the store that behave in another way, given how they really do. */
  readonly store?: (real: Store) => Partial<Store>;
}

export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export interface TestClient {
  readonly client_id: string;
  readonly redirect_uri: string;
}

/** The authorization server on a free port, behind the real router. A login there asks nobody: alice is let in. */
export interface TestAuthServer extends AsyncDisposable {
  readonly issuer: string;
  readonly resource: string;
  readonly core: Core;
  readonly memory: AuthServerMemory;
  /** Lines of the log, as JSON. */
  readonly logged: Record<string, unknown>[];
  /** What the login pages work with. */
  readonly login: LoginParts;
  /** Builds the server anew for another plan, as a reload does. */
  reload(plan: Partial<AuthServerPlan>): Promise<void>;
  get(path: string, headers?: Record<string, string>): Promise<HttpAnswer>;
  post(path: string, form: Record<string, string> | string, headers?: Record<string, string>): Promise<HttpAnswer>;
  send(method: string, path: string, headers: Record<string, string>, body?: string): Promise<HttpAnswer>;
  register(metadata?: object): Promise<TestClient>;
  authorizeUrl(client: TestClient, more?: Record<string, string | undefined>): URL;
  /** Goes through a login and gives the address that the client is sent to. */
  authorize(client: TestClient, more?: Record<string, string | undefined>, browser?: TestBrowser): Promise<URL>;
  /** A whole login: the answer of the token endpoint. */
  tokens(client: TestClient, more?: Record<string, string | undefined>): Promise<HttpAnswer>;
  redeem(client: TestClient, code: string, more?: Record<string, string>): Promise<HttpAnswer>;
  refresh(client: TestClient, token: string, more?: Record<string, string>): Promise<HttpAnswer>;
}

export const VERIFIER = randomBytes(32).toString('base64url');
const CHALLENGE = createHash('sha256').update(VERIFIER).digest('base64url');
export const REDIRECT = 'http://127.0.0.1:9999/callback';
/** Looked up anew each time, for tests that turn the clock. */
const now = () => Date.now();
/** Enough for tests that ask much. */
export const UNLIMITED = Object.fromEntries(
  Object.keys(LIMITS).map((door) => [door, { source: plenty(), all: plenty() }]),
) as unknown as Limits;

function plenty() {
  return { burst: 1e9, perSecond: 1e9 };
}

export async function startAuthServer(setup: AuthServerSetup = {}): Promise<TestAuthServer> {
  const server = createServer();
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const origin = setup.origin ?? `http://127.0.0.1:${port}`;
  const issuer = `${origin}${setup.path ?? ''}`;
  const base = setup.path ?? '';
  const memory = withStore(
    setup.memory ?? createAuthServerMemory({ now, limits: setup.limits ?? UNLIMITED }),
    setup.store,
  );
  const logged: Record<string, unknown>[] = [];
  const log = createLog({
    level: 'debug',
    format: 'json',
    now: () => new Date(),
    write: (line) => logged.push(JSON.parse(line)),
  });
  const plan: AuthServerPlan = { ...usualPlan(issuer, `${origin}/mcp`), ...setup.plan };
  let core: Core;
  let login: LoginParts;

  async function build(next: AuthServerPlan): Promise<void> {
    core = await createCore(next, { memory, log, now, ...setup.parts }, (parts) => {
      login = parts;
      return letAliceIn(parts, base);
    });
    const gateway = { routes: core.routes, hosts: core.hosts } as unknown as Gateway;
    const access = { host: '127.0.0.1', allowedHosts: [], allowedOrigins: [], trustProxyHeaders: false };
    server.removeAllListeners('request');
    server.on('request', createRouter([gateway], { access, log }));
  }
  await build(plan);

  const ask = (method: string, path: string, headers: Record<string, string>, body?: string) =>
    new Promise<HttpAnswer>((resolve, reject) => {
      const host = headers.host ?? new URL(origin).host;
      const length =
        body === undefined || headers['transfer-encoding'] ? {} : { 'content-length': String(Buffer.byteLength(body)) };
      const request = send({ port, method, path, headers: { host, ...length, ...headers }, agent }, (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
        });
        response.on('error', reject).on('end', () => {
          const isJson = response.headers['content-type']?.startsWith('application/json');
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            json: isJson && text !== '' ? JSON.parse(text) : undefined,
          });
        });
      });
      request.on('error', reject).end(body);
    });

  const test: TestAuthServer = {
    issuer,
    resource: plan.resources[0],
    memory,
    logged,
    get core() {
      return core;
    },
    get login() {
      return login;
    },
    reload: (next) => build({ ...plan, ...next }),
    send: ask,
    get: (path, headers = {}) => ask('GET', path, headers),
    post: (path, form, headers = {}) =>
      ask(
        'POST',
        `${base}${path}`,
        { 'content-type': 'application/x-www-form-urlencoded', ...headers },
        typeof form === 'string' ? form : new URLSearchParams(form).toString(),
      ),
    async register(metadata = {}) {
      const body = JSON.stringify({ client_name: 'Test', redirect_uris: [REDIRECT], ...metadata });
      const headers = { 'content-type': 'application/json' };
      const { status, json, text } = await ask('POST', `${base}/oauth/register`, headers, body);
      if (status !== 201) throw new Error(`registration was refused: ${status} ${text}`);
      return { client_id: json.client_id, redirect_uri: json.redirect_uris[0] };
    },
    authorizeUrl(client, more = {}) {
      const url = new URL(`${issuer}/oauth/authorize`);
      const params: Record<string, string | undefined> = {
        response_type: 'code',
        client_id: client.client_id,
        redirect_uri: client.redirect_uri,
        state: 'xyz',
        scope: 'openid',
        code_challenge: CHALLENGE,
        code_challenge_method: 'S256',
        ...more,
      };
      for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
      return url;
    },
    async authorize(client, more, browser = createTestBrowser()) {
      const { url } = await browser.travel(test.authorizeUrl(client, more), {
        until: (next) => next.origin !== new URL(issuer).origin,
      });
      return url;
    },
    async tokens(client, more) {
      const url = await test.authorize(client, more);
      return await test.redeem(client, url.searchParams.get('code') ?? `no code in ${url}`);
    },
    redeem: (client, code, more = {}) =>
      test.post('/oauth/token', {
        grant_type: 'authorization_code',
        code,
        code_verifier: VERIFIER,
        ...client,
        ...more,
      }),
    refresh: ({ client_id }, refresh_token, more = {}) =>
      test.post('/oauth/token', { grant_type: 'refresh_token', client_id, refresh_token, ...more }),
    async [Symbol.asyncDispose]() {
      agent.destroy();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await core.close();
    },
  };
  return test;
}

function withStore(memory: AuthServerMemory, change: AuthServerSetup['store']): AuthServerMemory {
  if (!change) return memory;
  return {
    ...memory,
    async storage(plan, parts) {
      const storage = await memory.storage(plan, parts);
      return { ...storage, store: { ...storage.store, ...change(storage.store) } };
    },
  };
}

function usualPlan(issuer: string, resource: string): AuthServerPlan {
  return {
    name: 'default/test',
    issuer,
    signingKeys: [],
    hmacSecrets: [],
    lifespans: { accessToken: 3600, refreshToken: 7 * 86_400, login: 30 * 86_400, authCode: 600 },
    resources: [resource],
    scopes: ['profile', 'email', 'tools'],
    consent: 'skip',
    registration: { dynamic: true, metadataDocuments: true, metadataHosts: [], redirectSchemes: [] },
    clients: [],
    providers: [
      {
        name: 'corp',
        required: true,
        clientId: 'sally',
        clientAuth: { kind: 'none' },
        scopes: ['openid'],
        offlineIfOffered: false,
        authorizationParams: {},
        addresses: 'private',
        endpoints: { kind: 'oidc', issuer: 'http://127.0.0.1:9', subjectClaim: 'sub' },
        backends: [],
      },
    ],
    storage: { kind: 'memory' },
  };
}

const ALICE = { id: 'user-of-alice', name: 'Alice', email: 'alice@example.com' };

/** In place of the login pages: everybody is alice, and agrees. */
function letAliceIn({ provider, records, log }: LoginParts, base: string): Login {
  const users = records.rows<typeof ALICE>('user');
  async function answer(request: Parameters<Route['handler']>[0], response: Parameters<Route['handler']>[1]) {
    const { params } = await provider.interactionDetails(request, response);
    await users.put(ALICE.id, ALICE, { ttl: 1e6 });
    const grant = new provider.Grant({ clientId: String(params.client_id), accountId: ALICE.id });
    grant.addOIDCScope(String(params.scope));
    grant.addResourceScope(String(params.resource), String(params.scope));
    const grantId = await grant.save();
    await provider.interactionFinished(request, response, { login: { accountId: ALICE.id }, consent: { grantId } });
  }
  return {
    routes: [
      {
        path: `${base}/oauth/interaction`,
        below: true,
        authentication: 'browser',
        pages: 'navigation',
        handler: (request, response) => {
          answer(request, response).catch((error: unknown) => {
            log.error('test login failed', { error });
            response.writeHead(500).end(String(error));
          });
        },
      },
    ],
    close: async () => {},
  };
}
