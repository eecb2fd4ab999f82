import { chmod, lstat, mkdir, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SallyError } from '../../base/index.ts';
import type { Endpoint } from '../endpoints.ts';

/** What a supervisor tells about its workload right now. */
export interface LiveStatus {
  readonly instance: string;
  readonly phase: 'starting' | 'running' | 'stopping';
  readonly endpoints: readonly Endpoint[];
}

export interface ControlParts {
  readonly report: () => LiveStatus;
  readonly stop: () => void;
}

export interface Control {
  close(): Promise<void>;
}

/** The system takes no longer path for a socket (104 bytes on macOS, 108 on Linux, with the closing zero). */
const LONGEST_PATH = 100;

/** Where the supervisor of this instance listens: with the other state, or in a folder of ours with a shorter name. */
export async function socketPath(folder: string, instance: string): Promise<string> {
  const usual = join(folder, `${instance}.sock`);
  if (Buffer.byteLength(usual) <= LONGEST_PATH) {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return usual;
  }
  const name = `sallyport-${process.getuid?.() ?? 'user'}`;
  const short = [tmpdir(), '/tmp'].map((temp) => join(temp, name)).find((path) => path.length + 40 <= LONGEST_PATH);
  if (short === undefined) throw unusable(folder, 'has a path that is too long for a socket');
  await mkdir(short, { mode: 0o700 }).catch(() => {}); // it may be there already, and then it is looked at
  const stats = await lstat(short);
  // Everybody may write to the folder above: what lies there under our name must really be ours.
  if (!stats.isDirectory() || stats.uid !== process.getuid?.() || (stats.mode & 0o077) !== 0)
    throw unusable(short, 'belongs to somebody else, or is open to others');
  return join(short, `${instance}.sock`);
}

/** Answers on a socket file that only the same user of the machine can open. */
export async function openControl(path: string, { report, stop }: ControlParts): Promise<Control> {
  const server = createServer((incoming, response) => {
    const answer = (status: number, body: object): void => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    };
    const route = `${incoming.method} ${incoming.url}`;
    if (route === 'GET /status') return answer(200, report());
    if (route !== 'POST /stop') return answer(404, {});
    answer(202, report());
    stop();
  });
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(path, resolve));
  await chmod(path, 0o600);
  server.unref();
  return {
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(path, { force: true });
    },
  };
}

function unusable(path: string, why: string): SallyError {
  return new SallyError('state.unwritable', `${path} ${why}`, { hint: 'choose a folder of yours with SALLYPORT_HOME' });
}
