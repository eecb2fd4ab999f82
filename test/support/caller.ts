import { createHash, randomBytes } from 'node:crypto';
import { Agent, type IncomingHttpHeaders, request as send } from 'node:http';
import { META, MODERN_REVISION } from '../../src/mcp/index.ts';
import { createTestBrowser, type TestBrowser, type Visit } from './cookie-jar.ts';

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  readonly json: any;
}

/** `ok`, the HTTP status of a refusal, or the code of an error in an answer with 200. */
export function outcomeOf({ status, json }: Answered): string {
  if (status !== 200) return String(status);
  return json?.result && !json.result.isError ? 'ok' : String(json?.error?.data?.code ?? 'error');
}

export interface CallOptions {
  /** Which process to ask, past the balancer. */
  readonly replica?: number;
  readonly capabilities?: object;
  /** Further members of `params`, such as `requestState`. */
  readonly params?: object;
}

/** A user with a client and a token, who speaks the stateless revision unless a test writes the message itself. */
export interface Caller {
  readonly user: string;
  readonly clientId: string;
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly browser: TestBrowser;
  request(method: string, params?: object, options?: CallOptions): Promise<Answered>;
  /** Calls a tool. */
  call(tool: string, options?: CallOptions): Promise<Answered>;
  /** The headers that a backend saw with a call of its tool `whoami`. */
  seenBy(backend: string, options?: CallOptions): Promise<IncomingHttpHeaders>;
  /** Any message, with headers of its own. */
  post(message: object, headers?: Record<string, string>, replica?: number): Promise<Answered>;
  /** Opens a stream that stays: resolves when it is there, and says when it has ended. */
  listen(message: object | undefined, headers: Record<string, string>, replica?: number): Promise<OpenStream>;
  /** DELETE, to end a session. */
  delete(headers: Record<string, string>, replica?: number): Promise<Answered>;
  /** Opens a page in his browser, and says who he is wherever he is asked. */
  visit(url: string): Promise<Visit>;
  /** Ends the login (RFC 7009). */
  revoke(replica?: number): Promise<Answered>;
  /** The same user with the tokens that a refresh brings. */
  refreshed(replica?: number): Promise<Caller>;
}

export interface OpenStream {
  readonly status: number;
  readonly ended: Promise<void>;
}

export interface Login {
  /** The loopback address that the browser comes from. */
  readonly from?: string;
}

export interface LoginParts {
  readonly url: string;
  readonly issuer: string;
  /** The endpoint at each process. */
  readonly replicas: readonly string[];
}

const REDIRECT = 'http://127.0.0.1:9/callback';
const agent = new Agent({ keepAlive: true, maxSockets: 256 });
let ids = 0;

export function createLogin(parts: LoginParts): (user: string, options?: Login) => Promise<Caller> {
  let registered: Promise<string> | undefined;

  async function register(): Promise<string> {
    const metadata = { client_name: 'Test', redirect_uris: [REDIRECT] };
    const { status, json } = await ask('POST', `${parts.issuer}/oauth/register`, JSON_BODY, JSON.stringify(metadata));
    if (status !== 201) throw new Error(`registration was refused: ${JSON.stringify(json)}`);
    return json.client_id as string;
  }

  return async function login(user, { from } = {}) {
    registered ??= register();
    const clientId = await registered;
    const browser = createTestBrowser(from === undefined ? {} : { from });
    const verifier = randomBytes(32).toString('base64url');
    const url = new URL(`${parts.issuer}/oauth/authorize`);
    url.search = new URLSearchParams({
      response_type: 'code',
      client_id: clientId,
      redirect_uri: REDIRECT,
      scope: 'openid offline_access',
      resource: parts.url,
      code_challenge: createHash('sha256').update(verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }).toString();
    const back = await travelAs(user, browser, url);
    const code = back.url.searchParams.get('code');
    if (back.status !== 0 || code === null) throw new Error(`no code at ${back.url} (${back.status}):\n${back.body}`);
    const tokens = await redeem(parts, {
      grant_type: 'authorization_code',
      code,
      redirect_uri: REDIRECT,
      client_id: clientId,
      code_verifier: verifier,
    });
    return createCaller(parts, { user, clientId, browser, ...tokens });
  };
}

/** Agrees, and tells each provider who it is, until the browser stands in front of the client or nothing leads on. */
async function travelAs(user: string, browser: TestBrowser, url: string | URL): Promise<Visit> {
  const until = (next: URL): boolean => next.href.startsWith(REDIRECT);
  let page = await browser.travel(url, { until });
  if (page.body.includes('name="decision"')) page = await browser.submit(page, { decision: 'allow' }, { until });
  while (page.status === 200 && page.body.includes('name="user"'))
    page = await browser.submit(page, { user }, { until });
  return page;
}

interface Tokens {
  readonly accessToken: string;
  readonly refreshToken: string;
}

async function redeem(parts: LoginParts, form: Record<string, string>, replica?: number): Promise<Tokens> {
  const { status, json } = await postForm(parts, '/oauth/token', form, replica);
  if (status !== 200) throw new Error(`no tokens (${status}): ${JSON.stringify(json)}`);
  return { accessToken: json.access_token, refreshToken: json.refresh_token };
}

function createCaller(
  parts: LoginParts,
  who: Tokens & { readonly user: string; readonly clientId: string; readonly browser: TestBrowser },
): Caller {
  const { user, clientId, browser, accessToken, refreshToken } = who;
  const mine = { authorization: `Bearer ${accessToken}` };
  const at = (replica: number | undefined): string =>
    replica === undefined ? parts.url : (parts.replicas[replica] as string);

  const caller: Caller = {
    ...who,
    async request(method, params = {}, { replica, capabilities = {} } = {}) {
      const _meta = { [META.protocolVersion]: MODERN_REVISION, [META.clientCapabilities]: capabilities };
      const { name } = params as { readonly name?: string };
      const headers = {
        'mcp-protocol-version': MODERN_REVISION,
        'mcp-method': method,
        ...(name === undefined ? {} : { 'mcp-name': name }),
      };
      const message = { jsonrpc: '2.0', id: ++ids, method, params: { ...params, _meta } };
      return await caller.post(message, headers, replica);
    },
    call: (tool, options = {}) =>
      caller.request('tools/call', { name: tool, arguments: {}, ...options.params }, options),
    async seenBy(backend, options) {
      const { status, json } = await caller.call(`${backend}_whoami`, options);
      const text = json?.result?.content?.[0]?.text;
      if (text === undefined) throw new Error(`${backend} was not reached (${status}): ${JSON.stringify(json)}`);
      return JSON.parse(text) as IncomingHttpHeaders;
    },
    post: (message, headers = {}, replica) =>
      ask(
        'POST',
        at(replica),
        { ...JSON_BODY, accept: 'application/json, text/event-stream', ...mine, ...headers },
        JSON.stringify(message),
      ),
    listen: (message, headers, replica) =>
      openStream(message === undefined ? 'GET' : 'POST', at(replica), { ...JSON_BODY, ...mine, ...headers }, message),
    delete: (headers, replica) => ask('DELETE', at(replica), { ...mine, ...headers }),
    visit: (url) => travelAs(user, browser, url),
    revoke: (replica) => postForm(parts, '/oauth/revoke', { token: refreshToken, client_id: clientId }, replica),
    async refreshed(replica) {
      const form = { grant_type: 'refresh_token', refresh_token: refreshToken, client_id: clientId };
      return createCaller(parts, { ...who, ...(await redeem(parts, form, replica)) });
    },
  };
  return caller;
}

const JSON_BODY = { 'content-type': 'application/json' };

function postForm(parts: LoginParts, path: string, form: Record<string, string>, replica?: number): Promise<Answered> {
  const base = replica === undefined ? parts.issuer : new URL(parts.replicas[replica] as string).origin;
  const headers = { 'content-type': 'application/x-www-form-urlencoded' };
  return ask('POST', `${base}${path}`, headers, new URLSearchParams(form).toString());
}

function openStream(
  method: string,
  url: string,
  headers: Record<string, string>,
  message?: object,
): Promise<OpenStream> {
  const accept = 'application/json, text/event-stream';
  return new Promise((resolve, reject) => {
    const request = send(url, { method, headers: { accept, ...headers }, agent: false }, (response) => {
      const ended = new Promise<void>((end) => response.on('close', end));
      response.on('error', () => {}).resume(); // `close` follows
      resolve({ status: response.statusCode ?? 0, ended });
    });
    request.on('error', reject).end(message === undefined ? undefined : JSON.stringify(message));
  });
}

/** The JSON of an answer; of an event stream the last message, which is the answer. */
function ask(method: string, url: string, headers: Record<string, string>, body = ''): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': String(Buffer.byteLength(body)) };
    const request = send(url, { method, headers: { ...headers, ...length }, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => {
        const last = /^data: (.*)$/gm;
        const isStream = response.headers['content-type']?.startsWith('text/event-stream');
        const json = isStream ? [...text.matchAll(last)].at(-1)?.[1] : text;
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          json: json ? JSON.parse(json) : undefined,
        });
      });
    });
    request.on('error', reject).end(body);
  });
}
