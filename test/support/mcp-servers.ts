import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Small programs that behave well or badly, for a folder of their own. Each is a package that `npx://` finds installed. */

const ANSWER = `
  const tools = ['pid', 'slow', 'env'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const reply = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const { id, method, params } = JSON.parse(line);
    if (id === undefined) return;
    if (method === 'initialize') return reply(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'test', version: '1' } });
    if (method === 'tools/list') return reply(id, { tools });
    const text = method === 'tools/call' && params.name === 'env' ? JSON.stringify(process.env) : String(process.pid);
    setTimeout(() => reply(id, { content: [{ type: 'text', text }] }), params.name === 'slow' ? (params.arguments?.ms ?? 300) : 0);
  });`;

export const SERVERS = {
  /** Speaks MCP. `pid` answers with its process id, `slow` after a while, `env` with its environment. */
  good: ANSWER,
  /** As good, but deaf: neither the end of stdin nor SIGTERM moves it. It has a child that is as deaf. */
  deaf: `process.on('SIGTERM', () => {}); setInterval(() => {}, 1e6);
    if (!process.env.CHILD) require('node:child_process').spawn(process.execPath, [__filename], { env: { ...process.env, CHILD: '1' } });
    ${ANSWER}`,
  exits: `console.error('the licence file is missing'); process.exit(3);`,
  chatters: `setInterval(() => console.log('Listening on port 3000!'), 10);`,
  /** Speaks MCP over HTTP, on the port that it is told. `whoami` answers with the headers of the call, `env` with its environment. */
  web: `
  const tools = ['whoami', 'env'].map((name) => ({ name, inputSchema: { type: 'object' } }));
  const about = { capabilities: { tools: {} }, serverInfo: { name: 'web', version: '1' } };
  require('node:http').createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    if (request.method !== 'POST') return response.writeHead(405).end();
    const { id, method, params } = JSON.parse(body);
    if (id === undefined) return response.writeHead(202).end();
    const said = () => JSON.stringify(params.name === 'env' ? process.env : request.headers);
    const results = {
      initialize: () => ({ protocolVersion: params.protocolVersion, ...about }),
      'tools/list': () => ({ tools }),
      'tools/call': () => ({ content: [{ type: 'text', text: said() }] }),
    };
    response.writeHead(200, { 'content-type': 'application/json', 'mcp-session-id': 'one' });
    const outcome = results[method] ? { result: results[method]() } : { error: { code: -32601, message: 'unknown' } };
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
  }).listen(Number(process.env.MCP_PORT), '127.0.0.1');`,
  greets: `console.log('Welcome to my server'); ${ANSWER}`,
} as const;

export type ServerName = keyof typeof SERVERS;

/** Installs the named servers below a folder, so that `npx://NAME` in a file of that folder runs them. */
export async function installServers(folder: string, names: readonly ServerName[]): Promise<void> {
  for (const name of names) {
    const home = join(folder, 'node_modules', name);
    await mkdir(home, { recursive: true });
    await writeFile(join(home, 'package.json'), JSON.stringify({ name, version: '1.0.0', bin: `./${name}.cjs` }));
    await writeFile(join(home, `${name}.cjs`), `#!/usr/bin/env node\n${SERVERS[name]}\n`);
    await chmod(join(home, `${name}.cjs`), 0o755);
  }
}

/** A group with one virtual server in front of these servers, as YAML. */
export function groupYaml(servers: readonly string[], name = 'test'): string {
  const gateway = `apiVersion: sallyport.dev/v1alpha1
kind: VirtualMCPServer
metadata: {name: ${name}}
spec:
  groupRef: {name: ${name}}
  incomingAuth: {type: anonymous}
---
apiVersion: sallyport.dev/v1alpha1
kind: MCPGroup
metadata: {name: ${name}}
`;
  return [gateway, ...servers.map((server) => serverYaml(server, { group: name }))].join('---\n');
}

export function serverYaml(name: string, { group = 'test', extra = '' } = {}): string {
  return `apiVersion: sallyport.dev/v1alpha1
kind: MCPServer
metadata: {name: ${name}}
spec:
  groupRef: {name: ${group}}
  image: npx://${name}
${extra}`;
}
