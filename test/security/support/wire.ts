import { Agent, request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { connect, type Socket } from 'node:net';

/** What every MCP client sends with a POST. */
export const MCP = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface Sent {
  readonly method?: string;
  readonly path?: string;
  /** A list keeps the order and repeats of headers. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/** One HTTP request with exactly these headers, and its whole answer. */
export function send(url: URL, { method = 'POST', path = url.pathname, headers = {}, body }: Sent): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const options = { host: url.hostname, port: url.port, method, path, headers: headers as Record<string, string> };
    const request = httpRequest({ ...options, agent: AGENT }, async (response) => {
      let text = '';
      try {
        for await (const chunk of response.setEncoding('utf8')) text += chunk;
      } catch {
        // cut off: what came is what counts
      }
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text });
    });
    request.once('error', reject);
    request.end(body);
  });
}

const AGENT = new Agent({ keepAlive: true, maxSockets: 256 });

export function post(url: URL, message: unknown, headers: Sent['headers'] = {}): Promise<Answer> {
  return send(url, {
    headers: { ...MCP, ...headers },
    body: typeof message === 'string' || Buffer.isBuffer(message) ? message : JSON.stringify(message),
  });
}

/** A message of the stateless revision, with the envelope and the headers it needs. */
export function modern(
  id: string | number,
  method: string,
  params: Readonly<Record<string, unknown>> = {},
  capabilities: object = {},
): { readonly message: object; readonly headers: Record<string, string> } {
  const name = params.name ?? params.uri;
  return {
    message: {
      jsonrpc: '2.0',
      id,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    },
    headers: {
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': method,
      ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
    },
  };
}

/** Opens a session of a stateful revision and gives its id. */
export async function openSession(
  url: URL,
  params: Readonly<Record<string, unknown>> = {},
  headers: Sent['headers'] = {},
): Promise<string> {
  const greeting = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const message = { jsonrpc: '2.0', id: 0, method: 'initialize', params: { ...greeting, ...params } };
  const answer = await post(url, message, headers);
  const id = answer.headers['mcp-session-id'];
  if (answer.status !== 200 || typeof id !== 'string')
    throw new Error(`no session: ${answer.status} ${answer.body.slice(0, 500)}`);
  return id;
}

/** The last JSON-RPC message of an answer, whether it came as a body or as a stream. */
export function messageOf({ headers, body }: Answer): {
  readonly id?: unknown;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
} {
  if (!String(headers['content-type']).startsWith('text/event-stream')) return JSON.parse(body);
  const last = body
    .split('\n')
    .filter((line) => line.startsWith('data: {'))
    .at(-1);
  return JSON.parse(last?.slice('data: '.length) ?? 'null');
}

/** The text of a tool's answer. */
export function textOf(answer: Answer): unknown {
  const content = messageOf(answer).result?.content;
  return Array.isArray(content) ? (content[0] as { text?: unknown } | undefined)?.text : undefined;
}

/** A bare socket: bytes out, and everything that came back until the other side closed or time was up. */
export async function raw(url: URL, bytes: string | Buffer, within = 2_000): Promise<string> {
  const socket = await connected(url);
  socket.write(bytes);
  const text = await heard(socket, within);
  socket.destroy();
  return text;
}

export function connected(url: URL): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port: Number(url.port), host: url.hostname, allowHalfOpen: true });
    socket.once('connect', () => resolve(socket));
    socket.once('error', reject);
    socket.on('error', () => {}); // being cut off is one of the expected answers
  });
}

/** What a socket says until it ends, or until this many milliseconds have passed. */
export function heard(socket: Socket, within: number): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    const done = (): void => {
      clearTimeout(timer);
      resolve(text);
    };
    const timer = setTimeout(done, within);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    socket.once('end', done);
    socket.once('close', done);
  });
}

/** The request line and headers of a POST to the endpoint, with these headers added or taken out (`undefined`). */
export function head(url: URL, extra: Readonly<Record<string, string | undefined>> = {}, line?: string): string {
  const all: Record<string, string | undefined> = { Host: url.host, ...TITLED, ...extra };
  const lines = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
  return `${[line ?? `POST ${url.pathname} HTTP/1.1`, ...lines].join('\r\n')}\r\n\r\n`;
}

const TITLED = { 'Content-Type': MCP['content-type'], Accept: MCP.accept };
