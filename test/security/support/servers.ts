import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

export interface Message {
  readonly id?: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** Takes over the answer to a message when it returns true. */
export type Misbehave = (message: Message, response: ServerResponse, session: string) => boolean;

export interface WebServer extends AsyncDisposable {
  readonly url: string;
  /** The headers of every request, oldest first. */
  readonly seen: readonly IncomingHttpHeaders[];
  /** Every message, oldest first. */
  readonly messages: readonly Message[];
}

/** A streamable HTTP server of a stateful revision whose tool `say` answers the text it is given, unless it is told to misbehave. */
export async function startWebServer(misbehave: Misbehave = () => false): Promise<WebServer> {
  const seen: IncomingHttpHeaders[] = [];
  const messages: Message[] = [];
  let sessions = 0;

  const server = createServer(async (request, response) => {
    seen.push(request.headers);
    let body = '';
    try {
      for await (const chunk of request) body += chunk;
    } catch {
      return; // the gateway gave up
    }
    if (request.method !== 'POST') return void response.writeHead(405).end();
    const message = { params: {}, ...JSON.parse(body) } as Message;
    messages.push(message);
    if (message.id === undefined) return void response.writeHead(202).end();
    if (message.method === 'server/discover') return void response.writeHead(400).end();
    const session =
      message.method === 'initialize' ? `session-${++sessions}` : String(request.headers['mcp-session-id']);
    response.setHeader('mcp-session-id', session);
    if (misbehave(message, response, session)) return;
    response.setHeader('content-type', 'application/json');
    response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: resultOf(message) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    messages,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function resultOf({ method, params }: Message): object {
  switch (method) {
    case 'initialize':
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: 'web', version: '1' },
      };
    case 'tools/list':
      return { tools: [{ name: 'say', inputSchema: { type: 'object' } }] };
    default:
      return { content: [{ type: 'text', text: String((params.arguments as { text?: unknown } | undefined)?.text) }] };
  }
}

/** A server of the stateless revision over HTTP, whose tool `say` answers the text it is given. */
export async function startModernServer(): Promise<WebServer> {
  const seen: IncomingHttpHeaders[] = [];
  const messages: Message[] = [];
  const server = createServer(async (request, response) => {
    seen.push(request.headers);
    let body = '';
    for await (const chunk of request) body += chunk;
    const message = { params: {}, ...JSON.parse(body) } as Message;
    messages.push(message);
    const answer = (result: object): void => {
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { resultType: 'complete', ...result } }));
    };
    if (message.method === 'server/discover')
      return answer({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } });
    if (message.method === 'subscriptions/listen') return void response.writeHead(404).end();
    answer(resultOf(message));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    seen,
    messages,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The beginning of every stdio server here: `say` answers its text, and `other` may take a message over. */
const STDIO = `
  const write = (message) => process.stdout.write((typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message })) + '\\n');
  const answer = (id, text) => write({ id, result: { content: [{ type: 'text', text }] } });
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params = {} } = JSON.parse(line);
    if (other({ id, method, params })) return;
    if (id === undefined) return;
    if (method === 'initialize') return write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {}, logging: {} }, serverInfo: { name: 'pipe', version: '1' } } });
    if (method === 'tools/list') return write({ id, result: { tools: [{ name: 'say', inputSchema: { type: 'object' } }] } });
    if (method !== 'tools/call') return write({ id, error: { code: -32601, message: 'no such method' } });
    answer(id, String(params.arguments?.text));
  });`;

/** Writes a stdio server into a folder, so that `npx://NAME` in a file of that folder runs it. */
export async function installPipeServer(folder: string, name: string, other = '() => false'): Promise<void> {
  const home = join(folder, 'node_modules', name);
  await mkdir(home, { recursive: true });
  await writeFile(join(home, 'package.json'), JSON.stringify({ name, version: '1.0.0', bin: `./${name}.cjs` }));
  await writeFile(join(home, `${name}.cjs`), `#!/usr/bin/env node\nconst other = ${other};\n${STDIO}\n`);
  await chmod(join(home, `${name}.cjs`), 0o755);
}

/** A remote server as a backend of the group `test`. */
export function entryYaml(name: string, url: string): string {
  return `apiVersion: sallyport.dev/v1alpha1
kind: MCPServerEntry
metadata: {name: ${name}}
spec:
  groupRef: {name: test}
  remoteUrl: ${url}
  allowPrivateEndpoint: true
`;
}
