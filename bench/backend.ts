import { spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { LEGACY_REVISION, REVISION, TOOL_RESULT, tools } from './messages.ts';
import { type Started, start } from './processes.ts';

/** How many tools a server of the backend may have; each number is a path of its own. */
const SIZES = [1, 10, 50, 1000];

export interface BenchBackend extends AsyncDisposable {
  readonly pid: number;
  /** A server with that many tools. Any number of servers: `which` only makes the addresses differ. */
  modern(toolCount: number, which?: number): string;
  legacy(toolCount: number): string;
}

/** nginx with fixed answers: far faster than anything written in JavaScript, so that it is never what is measured. */
export async function startBackend(folder: string): Promise<BenchBackend> {
  install('nginx', 'nginx-light');
  const port = await freePort();
  await mkdir(join(folder, 'lists'), { recursive: true });
  for (const size of SIZES) {
    const result = { tools: tools(size) };
    await writeFile(join(folder, 'lists', `modern-${size}.json`), answer(1, { resultType: 'complete', ...result }));
    await writeFile(join(folder, 'lists', `legacy-${size}.json`), answer(2, result));
  }
  const config = join(folder, 'nginx.conf');
  await writeFile(config, configOf(folder, port));
  const nginx = await start('around', ['nginx', '-c', config, '-p', folder, '-e', 'stderr'], { silent: true });
  const origin = `http://127.0.0.1:${port}`;
  await untilUp(`${origin}/up`, nginx);
  return {
    pid: nginx.pid,
    modern: (toolCount, which = 0) => `${origin}/modern/${toolCount}/${which}`,
    legacy: (toolCount) => `${origin}/legacy/${toolCount}`,
    [Symbol.asyncDispose]: () => nginx[Symbol.asyncDispose](),
  };
}

/** The newer revision names the method in a header. In the older one a request without a session opens one, and a short one lists. */
function configOf(folder: string, port: number): string {
  const discovery = {
    resultType: 'complete',
    supportedVersions: [REVISION],
    capabilities: { tools: {} },
    ttlMs: 60_000,
    cacheScope: 'public',
    _meta: { 'io.modelcontextprotocol/serverInfo': { name: 'nginx', version: '1' } },
  };
  const hello = {
    protocolVersion: LEGACY_REVISION,
    capabilities: { tools: {} },
    serverInfo: { name: 'nginx', version: '1' },
  };
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
  server {
    listen 127.0.0.1:${port} backlog=4096;
    default_type application/json;
    location = /up { return 204; }
    location /lists/ { root ${folder}; error_page 405 =200 $uri; }
    location ~ ^/modern/([0-9]+)/ {
      if ($http_mcp_method = 'tools/call') { return 200 '${answer(1, TOOL_RESULT)}'; }
      if ($http_mcp_method = 'server/discover') { return 200 '${answer(1, discovery)}'; }
      if ($http_mcp_method = 'tools/list') { rewrite ^/modern/([0-9]+)/ /lists/modern-$1.json last; }
      return 404 '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no such method"}}';
    }
    location ~ ^/legacy/([0-9]+)$ {
      add_header Mcp-Session-Id bench;
      if ($request_method = GET) { return 405; }
      if ($request_method = DELETE) { return 204; }
      if ($http_mcp_method) { return 404; }
      if ($http_mcp_session_id = '') { return 200 '${answer(1, hello)}'; }
      if ($short = yes) { rewrite ^/legacy/([0-9]+)$ /lists/legacy-$1.json last; }
      return 200 '${answer(1, { content: TOOL_RESULT.content })}';
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
