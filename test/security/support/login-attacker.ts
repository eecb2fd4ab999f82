import { createHash, randomBytes } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request as send } from 'node:http';
import { createTestBrowser, type TestBrowser, type Visit } from '../../support/cookie-jar.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

export interface RegisteredClient {
  readonly id: string;
  readonly redirectUri: string;
}

/** One attempt of a client to get tokens: each has a verifier of its own. */
export interface Attempt {
  readonly client: RegisteredClient;
  readonly url: URL;
  readonly verifier: string;
}

type Form = Readonly<Record<string, string>>;
type Headers = Readonly<Record<string, string>>;

/** Whoever knows the address of a gate and nothing else. */
export interface Stranger extends Disposable {
  send(method: string, path: string, headers?: Headers, body?: string): Promise<Answer>;
  post(path: string, form: Form | string, headers?: Headers): Promise<Answer>;
  register(metadata?: object): Promise<RegisteredClient>;
  /** An authorization request; `undefined` leaves a parameter out. */
  attempt(client: RegisteredClient, more?: Record<string, string | undefined>): Attempt;
  /** Through consent and all providers; gives what the browser has in front of it at the end. */
  logIn(attempt: Attempt, browser?: TestBrowser): Promise<Visit>;
  redeem(attempt: Attempt, back: URL, more?: Form, headers?: Headers): Promise<Answer>;
  refresh(client: RegisteredClient, token: string, more?: Form, headers?: Headers): Promise<Answer>;
  /** A whole login: the answer of the token endpoint. */
  tokens(client?: RegisteredClient): Promise<Answer>;
  /** An MCP request with this token. */
  mcp(token: string, headers?: Headers): Promise<Answer>;
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const REDIRECT = 'http://127.0.0.1:9/callback';

export function createStranger(issuer: string, resource = `${issuer}/mcp`): Stranger {
  const { hostname, port, host } = new URL(issuer);
  const agent = new Agent({ keepAlive: true, maxSockets: 32 });

  const stranger: Stranger = {
    send: (method, path, headers = {}, body) =>
      new Promise((resolve, reject) => {
        const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
        const options = { hostname, port, method, path, agent, headers: { host, ...length, ...headers } };
        const request = send(options, (response) => {
          let text = '';
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk;
          });
          response.on('error', reject).on('end', () => {
            const { statusCode: status = 0, headers: answered } = response;
            const isJson = answered['content-type']?.startsWith('application/json') && text !== '';
            resolve({ status, headers: answered, text, json: isJson ? JSON.parse(text) : undefined });
          });
        });
        request.on('error', reject).end(body);
      }),
    post: (path, form, headers = {}) =>
      stranger.send(
        'POST',
        path,
        { ...FORM, ...headers },
        typeof form === 'string' ? form : new URLSearchParams(form).toString(),
      ),
    async register(metadata = {}) {
      const body = JSON.stringify({ client_name: 'Stranger', redirect_uris: [REDIRECT], ...metadata });
      const answer = await stranger.send('POST', '/oauth/register', { 'content-type': 'application/json' }, body);
      if (answer.status !== 201) throw new Error(`not registered (${answer.status}): ${answer.text}`);
      return { id: answer.json.client_id, redirectUri: answer.json.redirect_uris[0] };
    },
    attempt(client, more = {}) {
      const verifier = randomBytes(32).toString('base64url');
      const url = new URL(`${issuer}/oauth/authorize`);
      const params: Record<string, string | undefined> = {
        response_type: 'code',
        client_id: client.id,
        redirect_uri: client.redirectUri,
        scope: 'openid offline_access',
        state: randomBytes(8).toString('hex'),
        resource,
        code_challenge: createHash('sha256').update(verifier).digest('base64url'),
        code_challenge_method: 'S256',
        ...more,
      };
      for (const [name, value] of Object.entries(params)) if (value !== undefined) url.searchParams.set(name, value);
      return { client, url, verifier };
    },
    async logIn({ client, url }, browser = createTestBrowser()) {
      const until = (next: URL): boolean => next.href.startsWith(client.redirectUri);
      const page = await browser.travel(url, { until });
      if (!page.body.includes('name="decision"')) return page;
      return await browser.submit(page, { decision: 'allow' }, { until });
    },
    redeem({ client, verifier }, back, more = {}, headers = {}) {
      const form = {
        grant_type: 'authorization_code',
        client_id: client.id,
        redirect_uri: client.redirectUri,
        code: back.searchParams.get('code') ?? '',
        code_verifier: verifier,
      };
      return stranger.post('/oauth/token', { ...form, ...more }, headers);
    },
    refresh({ id }, token, more = {}, headers = {}) {
      const form = { grant_type: 'refresh_token', client_id: id, refresh_token: token };
      return stranger.post('/oauth/token', { ...form, ...more }, headers);
    },
    async tokens(client) {
      const attempt = stranger.attempt(client ?? (await stranger.register()));
      return await stranger.redeem(attempt, (await stranger.logIn(attempt)).url);
    },
    mcp: (token, headers = {}) =>
      stranger.send(
        'POST',
        new URL(resource).pathname,
        {
          authorization: `Bearer ${token}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...headers,
        },
        JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params: HELLO }),
      ),
    [Symbol.dispose]: () => agent.destroy(),
  };
  return stranger;
}

const HELLO = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'stranger', version: '1' } };
