import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { LEGACY_REVISION, REVISION, TOOL_RESULT, tools } from './messages.ts';
import { type Started, start } from './processes.ts';

export interface BenchBackend extends AsyncDisposable {
  readonly pid: number;
  /** A server with that many tools. Any number of servers: `which` only makes the addresses differ. */
  modern(toolCount: number, which?: number): string;
  legacy(toolCount: number): string;
}

/**
 * nginx with fixed answers to calls: far faster than anything written in JavaScript, so that it is never what is measured. What is
 * asked now and then, lists and signs of life, must repeat the id of its request and comes from a small server behind it.
 */
export async function startBackend(folder: string): Promise<BenchBackend> {
  install('nginx', 'nginx-light');
  const port = await freePort();
  await mkdir(folder, { recursive: true });
  const slow = createHttpServer(answerSlowly).listen(0, '127.0.0.1');
  await once(slow, 'listening');
  const config = join(folder, 'nginx.conf');
  await writeFile(config, configOf(folder, port, (slow.address() as AddressInfo).port));
  const nginx = await start('around', ['nginx', '-c', config, '-p', folder, '-e', 'stderr'], { silent: true });
  const origin = `http://127.0.0.1:${port}`;
  await untilUp(`${origin}/up`, nginx);
  return {
    pid: nginx.pid,
    modern: (toolCount, which = 0) => `${origin}/modern/${toolCount}/${which}`,
    legacy: (toolCount) => `${origin}/legacy/${toolCount}`,
    async [Symbol.asyncDispose]() {
      slow.closeAllConnections();
      slow.close();
      await nginx[Symbol.asyncDispose]();
    },
  };
}

const DISCOVERY = {
  resultType: 'complete',
  supportedVersions: [REVISION],
  capabilities: { tools: {} },
  ttlMs: 60_000,
  cacheScope: 'public',
  _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'nginx', version: '1' } },
};

const HELLO = {
  protocolVersion: LEGACY_REVISION,
  capabilities: { tools: {} },
  serverInfo: { name: 'nginx', version: '1' },
};

async function answerSlowly(request: IncomingMessage, response: ServerResponse): Promise<void> {
  let body = '';
  for await (const chunk of request) body += chunk;
  const { id, method } = JSON.parse(body) as { id?: string | number; method: string };
  const size = Number(/^\/[a-z]+\/([0-9]+)/.exec(request.url ?? '')?.[1]);
  const results: Readonly<Record<string, object>> = {
    'server/discover': DISCOVERY,
    initialize: HELLO,
    'tools/list': { resultType: 'complete', tools: tools(size) },
  };
  response.writeHead(id === undefined ? 202 : 200, { 'content-type': 'application/json' });
  response.end(id === undefined ? '' : JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }));
}

/** The newer revision names the method in a header. In the older one a request without a session opens one, and a short one is no call. */
function configOf(folder: string, port: number, slowPort: number): string {
  return `
daemon off;
master_process off;
pid ${folder}/nginx.pid;
error_log stderr crit;
worker_rlimit_nofile 20000;
events { worker_connections 8000; }
http {
  access_log off;
  keepalive_requests 1000000000;
  keepalive_timeout 600s;
  tcp_nodelay on;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  map $content_length $short { "~^[0-9][0-9]?$" yes; default no; }
  map "$http_mcp_session_id:$short" $call { "~^.+:no$" yes; default no; }
  server {
    listen 127.0.0.1:${port} backlog=4096;
    default_type application/json;
    location = /up { return 204; }
    location ~ ^/modern/([0-9]+)/ {
      if ($http_mcp_method = 'tools/call') { return 200 '${answer(1, TOOL_RESULT)}'; }
      if ($http_mcp_method = 'subscriptions/listen') { return 404 '{"jsonrpc":"2.0","error":{"code":-32601,"message":"no such method"}}'; }
      proxy_pass http://127.0.0.1:${slowPort};
    }
    location ~ ^/legacy/([0-9]+)$ {
      add_header Mcp-Session-Id bench;
      if ($request_method = GET) { return 405; }
      if ($request_method = DELETE) { return 204; }
      if ($http_mcp_method) { return 404; }
      if ($call = yes) { return 200 '${answer(1, { content: TOOL_RESULT.content })}'; }
      proxy_pass http://127.0.0.1:${slowPort};
    }
  }
}
`;
}

function answer(id: number, result: object): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

async function untilUp(url: string, { pid }: Started): Promise<void> {
  for (let tries = 0; tries < 100; tries++) {
    const up = await fetch(url).then(
      () => true,
      () => false,
    );
    if (up) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`nginx (process ${pid}) does not answer at ${url}`);
}

/** Finds a Debian program, installing its package where we may. */
export function install(program: string, debianPackage: string): void {
  if (spawnSync('sh', ['-c', `command -v ${program}`]).status === 0) return;
  const script = `apt-get install -y ${debianPackage} || { apt-get update && apt-get install -y ${debianPackage}; }`;
  if (process.getuid?.() === 0 && spawnSync('sh', ['-c', script], { stdio: 'ignore' }).status === 0) return;
  throw new Error(`${program} is missing: install the package ${debianPackage}`);
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
