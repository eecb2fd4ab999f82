import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type BenchBackend, freePort } from './backend.ts';
import { STRATEGIES, startStrategies, startWithTokens } from './boundaries.ts';
import { type Subject, send } from './load.ts';
import { legacyCall, legacyInitialize, modernCall, toolName } from './messages.ts';
import { pinned, start } from './processes.ts';
import { runSally, serverName, serveSally } from './sally.ts';

const HERE = import.meta.dirname;
export const KEYS = ['backend', 'bare', 'mcpProxy', 'one', 'many', 'session', 'token', ...STRATEGIES] as const;
export type Key = (typeof KEYS)[number];
export type Contenders = Readonly<Partial<Record<Key, Subject>>>;

/** Everybody who is compared, running side by side. `stack` ends them. */
export async function startContenders(
  backend: BenchBackend,
  folder: string,
  stack: AsyncDisposableStack,
): Promise<Contenders> {
  const call = modernCall(toolName(0));
  const url = backend.modern(50);

  const bare = stack.use(await start('tested', [process.execPath, join(HERE, 'bare-proxy.ts'), url]));
  const one = stack.use(await runSally(url));
  const urls = Array.from({ length: 20 }, (_, index) => backend.modern(50, index));
  const many = stack.use(await serveSally(join(folder, 'many'), urls));
  const stateful = stack.use(await runSally(backend.legacy(50)));
  const { session } = await send(stateful.url, legacyInitialize());
  // Server after server, each time with its next tool: fifty calls in a row to one of them would be a burst that nobody sends.
  const spread = Array.from({ length: 50 * urls.length }, (_, index) =>
    modernCall(`${serverName(index % urls.length)}_${toolName(Math.floor(index / urls.length))}`),
  );

  const contenders: Record<string, Subject> = {
    backend: { name: '(a) backend alone (nginx)', url, pid: backend.pid, messages: [call] },
    bare: { name: '(b) bare node:http + undici proxy', url: urlOf(bare.firstLine), pid: bare.pid, messages: [call] },
    one: { name: '(d) sally run, one backend', url: one.url, pid: one.pid, messages: [call] },
    many: { name: '(e) sally vmcp, 20 backends of 50 tools', url: many.url, pid: many.pid, messages: spread },
    session: {
      name: '(d′) as d, a 2025-11-25 session on both sides',
      url: stateful.url,
      pid: stateful.pid,
      messages: [legacyCall(session, toolName(0))],
    },
  };
  contenders.token = await startWithTokens(join(folder, 'token'), urls, spread, stack);
  Object.assign(contenders, await startStrategies(backend, stack));
  const mcpProxy = await startMcpProxy(stack);
  if (mcpProxy) contenders.mcpProxy = mcpProxy;
  for (const { url, messages } of Object.values(contenders)) for (const message of messages) await send(url, message);
  return contenders;
}

/**
 * mcp-proxy takes no HTTP server, only a command that it talks to over stdio. So its backend is a small stdio server on the
 * other core; only the proxy's own process is counted.
 */
async function startMcpProxy(stack: AsyncDisposableStack): Promise<Subject | undefined> {
  const program = mcpProxyProgram();
  if (program === undefined) return undefined;
  const port = await freePort();
  const server = pinned('around', [process.execPath, join(HERE, 'stdio-echo.ts')]);
  const options = ['--host', '127.0.0.1', '--port', String(port), '--server', 'stream'];
  const started = stack.use(
    await start('tested', [process.execPath, program, ...options, '--', ...server], { silent: true }),
  );
  const url = `http://127.0.0.1:${port}/mcp`;
  const messages = [modernCall(toolName(0))];
  for (let tries = 0; ; tries++) {
    try {
      for (const message of messages) await send(url, message);
      return { name: '(c) mcp-proxy', url, pid: started.pid, messages };
    } catch (error) {
      if (tries === 50) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

/** From our own devDependencies, or from the folder that BENCH_MCP_PROXY names. */
function mcpProxyProgram(): string | undefined {
  const from = process.env.BENCH_MCP_PROXY;
  const roots = from === undefined ? [join(HERE, '..')] : [from];
  for (const root of roots) {
    const manifest = join(root, 'node_modules/mcp-proxy/package.json');
    if (!existsSync(manifest)) continue;
    const { bin } = createRequire(manifest)(manifest) as { bin: string | Readonly<Record<string, string>> };
    const program = typeof bin === 'string' ? bin : bin['mcp-proxy'];
    if (program !== undefined) return join(dirname(manifest), program);
  }
  return undefined;
}

function urlOf(line: string): string {
  return (JSON.parse(line) as { url: string }).url;
}
