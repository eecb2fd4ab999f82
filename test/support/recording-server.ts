import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as it came. */
export interface Recorded {
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

export interface RecordingServer extends AsyncDisposable {
  readonly url: string;
  /** Every request, oldest first. */
  readonly seen: readonly Recorded[];
  /** Who may come: anybody else gets 401. */
  admits: (headers: IncomingHttpHeaders) => boolean | Promise<boolean>;
}

export interface RecordingOptions {
  /** Which revisions it speaks: those with sessions, or the stateless one. */
  readonly era?: 'legacy' | 'modern';
  readonly admits?: RecordingServer['admits'];
}

const MODERN = '2026-07-28';

/** An MCP server over HTTP that writes down what it is shown. Its tool `whoami` answers with the headers of the call. */
export async function startRecordingServer(options: RecordingOptions = {}): Promise<RecordingServer> {
  const { era = 'legacy' } = options;
  const seen: Recorded[] = [];
  let sessions = 0;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { headers, method: verb = '' } = request;
    const { id, method, params = {} } = verb === 'POST' ? JSON.parse(body) : {};
    seen.push({ method: method ?? verb, headers, body });
    if (!(await server.admits(headers))) return void response.writeHead(401, { 'www-authenticate': 'Bearer' }).end();
    if (verb !== 'POST') return void response.writeHead(verb === 'DELETE' ? 204 : 405).end();
    if (id === undefined) return void response.writeHead(202).end();
    const session = method === 'initialize' ? { 'mcp-session-id': `session-${++sessions}` } : {};
    const result = resultOf(method, params, headers);
    const outcome = result ? { result } : { error: { code: -32601, message: `there is no ${method}` } };
    response
      .writeHead(result || era === 'legacy' ? 200 : 404, { 'content-type': 'application/json', ...session })
      .end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  }

  function resultOf(
    method: string,
    params: { readonly protocolVersion?: string },
    headers: IncomingHttpHeaders,
  ): object | undefined {
    const complete = era === 'modern' ? { resultType: 'complete' } : {};
    const about = { capabilities: { tools: {} }, serverInfo: { name: 'recording', version: '1' } };
    switch (method) {
      case 'initialize':
        return era === 'legacy' ? { protocolVersion: params.protocolVersion, ...about } : undefined;
      case 'server/discover':
        return era === 'modern' ? { ...complete, supportedVersions: [MODERN], ...about } : undefined;
      case 'ping':
        return {};
      case 'tools/list':
        return { ...complete, tools: [{ name: 'whoami', inputSchema: { type: 'object' } }] };
      case 'tools/call':
        return { ...complete, content: [{ type: 'text', text: JSON.stringify(headers) }] };
      default:
        return undefined;
    }
  }

  const http = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const server: RecordingServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    seen,
    admits: options.admits ?? (() => true),
    async [Symbol.asyncDispose]() {
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
  return server;
}
