import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { codeOf, type Log, stateFolder } from '../base/index.ts';
import type { Environment } from '../workloads/index.ts';
import { askSocket } from './ask-socket.ts';
import type { Endpoint } from './endpoints.ts';

/** What a running gateway tells its owner about itself. */
export interface Status {
  readonly pid: number;
  readonly endpoints: readonly Endpoint[];
}

export interface Admin {
  close(): Promise<void>;
}

function folderOf(env: Environment): string {
  return join(stateFolder(env), 'vmcp');
}

/**
 * Tells details on a socket file that only the same user of the machine can open. The network sees no more than that we live.
 * A gateway without a place for the file serves all the same.
 */
export async function openAdmin(
  pid: number,
  env: Environment,
  report: () => readonly Endpoint[],
  log: Log,
): Promise<Admin> {
  const path = join(folderOf(env), `${pid}.sock`);
  const server = createServer((incoming, response) => {
    const known = incoming.method === 'GET' && incoming.url === '/status';
    const body = known ? JSON.stringify({ pid, endpoints: report() } satisfies Status) : '{}';
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json' }).end(body);
  });
  try {
    await mkdir(folderOf(env), { recursive: true, mode: 0o700 });
    await chmod(folderOf(env), 0o700);
    await rm(path, { force: true });
    await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
    await chmod(path, 0o600);
  } catch (error) {
    log.warn('sally vmcp status will not find this gateway', { error });
  }
  server.unref();
  return {
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(path, { force: true });
    },
  };
}

/** The gateways of this user that run right now. What a killed one left behind is cleared away. */
export async function readStatus(env: Environment): Promise<readonly Status[]> {
  const folder = folderOf(env);
  const files = await readdir(folder).catch((error: unknown): string[] => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  const found = await Promise.all(
    files.filter((file) => file.endsWith('.sock')).map((file) => ask(join(folder, file))),
  );
  return found.flatMap((status) => status ?? []).sort((a, b) => a.pid - b.pid);
}

async function ask(socketPath: string): Promise<Status | undefined> {
  try {
    return JSON.parse(await askSocket(socketPath, 'GET', '/status')) as Status;
  } catch (error) {
    if (codeOf(error) === 'ECONNREFUSED') await rm(socketPath, { force: true });
    return undefined;
  }
}
