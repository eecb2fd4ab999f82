import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface HttpMcpServer extends AsyncDisposable {
  readonly url: string;
  /** Headers of every request it got, oldest first. */
  readonly seen: readonly IncomingMessage['headers'][];
  /** As after a restart: it knows no session any more. */
  forget(): void;
}

export interface HttpMcpOptions {
  /** Answer requests as an event stream, with a notification in front. */
  readonly stream?: boolean;
  /** Refuse everything with this status. */
  readonly refuse?: number;
}

/** A real streamable HTTP server with sessions, small enough to see through. Its tool `say` answers what it is told. */
export async function startHttpMcpServer(options: HttpMcpOptions = {}): Promise<HttpMcpServer> {
  const seen: IncomingMessage['headers'][] = [];
  let sessions = new Set<string>();
  let count = 0;

  const server = createServer(async (request, response) => {
    seen.push(request.headers);
    if (options.refuse) return void response.writeHead(options.refuse).end();
    if (request.method !== 'POST') return void response.writeHead(request.method === 'DELETE' ? 204 : 405).end();
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, method, params } = JSON.parse(body);
    const session = request.headers['mcp-session-id'];
    if (method !== 'initialize' && !sessions.has(String(session))) return void response.writeHead(404).end();
    if (id === undefined) return void response.writeHead(202).end();
    const headers: Record<string, string> = {};
    if (method === 'initialize') {
      count += 1;
      sessions.add(`session-${count}`);
      headers['mcp-session-id'] = `session-${count}`;
    }
    const message = JSON.stringify({ jsonrpc: '2.0', id, result: resultOf(method, params) });
    if (!options.stream)
      return void response.writeHead(200, { ...headers, 'content-type': 'application/json' }).end(message);
    response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
    response.write('id: 1\ndata:\n\n: a comment\n\n');
    response.write(
      `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } })}\n\n`,
    );
    response.end(`event: message\ndata: ${message}\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    forget() {
      sessions = new Set();
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function resultOf(
  method: string,
  params: { protocolVersion?: string; arguments?: { text?: string }; uri?: string },
): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true } },
        serverInfo: { name: 'http-test', version: '1' },
        instructions: 'Say something.',
      };
    case 'tools/list':
      return { tools: [{ name: 'say', inputSchema: { type: 'object' } }] };
    case 'resources/read':
      return { contents: [{ uri: params.uri, text: 'a resource' }] };
    default:
      return { content: [{ type: 'text', text: params.arguments?.text ?? '' }] };
  }
}
