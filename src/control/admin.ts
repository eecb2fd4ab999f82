import { chmod, mkdir, readdir, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { AuthAdmin } from '../authserver/index.ts';
import { codeOf, type Log, stateFolder, toSallyError } from '../base/index.ts';
import type { Environment } from '../workloads/index.ts';
import { askSocket } from './ask-socket.ts';
import type { Endpoint } from './endpoints.ts';
import { endLogins, reportLogins } from './login-questions.ts';

/** What a running gateway tells its owner about itself. */
export interface Status {
  readonly pid: number;
  readonly endpoints: readonly Endpoint[];
}

export interface Admin {
  close(): Promise<void>;
}

/** What can be asked about. */
export interface AdminParts {
  readonly endpoints: () => readonly Endpoint[];
  readonly logins: () => readonly AuthAdmin[];
}

function folderOf(env: Environment): string {
  return join(stateFolder(env), 'vmcp');
}

/**
 * Tells details on a socket file that only the same user of the machine can open. The network sees no more than that we live.
 * A gateway without a place for the file serves all the same.
 */
export async function openAdmin(pid: number, env: Environment, parts: AdminParts, log: Log): Promise<Admin> {
  const path = join(folderOf(env), `${pid}.sock`);
  const server = createServer((incoming, response) => {
    const send = (status: number, body: unknown): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    answer(incoming, pid, parts).then(
      (body) => send(body === undefined ? 404 : 200, body ?? {}),
      (thrown: unknown) => {
        const { code, message, hint } = toSallyError(thrown);
        if (code === 'internal.bug') log.error('a question of the administrator met a bug', { error: thrown });
        send(500, { error: { code, message, ...(hint === undefined ? {} : { hint }) } });
      },
    );
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

async function answer({ method, url }: IncomingMessage, pid: number, parts: AdminParts): Promise<unknown> {
  const { pathname, searchParams } = new URL(url ?? '/', 'http://admin.invalid');
  switch (`${method} ${pathname}`) {
    case 'GET /status':
      return { pid, endpoints: parts.endpoints() } satisfies Status;
    case 'GET /logins':
      return await reportLogins(parts.logins(), searchParams);
    case 'POST /logins/revoke':
      return await endLogins(parts.logins(), searchParams);
    default:
      return undefined;
  }
}

/** The socket files of gateways that may run right now. */
export async function socketsOf(env: Environment): Promise<readonly string[]> {
  const folder = folderOf(env);
  const files = await readdir(folder).catch((error: unknown): string[] => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  return files.filter((file) => file.endsWith('.sock')).map((file) => join(folder, file));
}

/** The gateways of this user that run right now. What a killed one left behind is cleared away. */
export async function readStatus(env: Environment): Promise<readonly Status[]> {
  const found = await Promise.all((await socketsOf(env)).map(ask));
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
