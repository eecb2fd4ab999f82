import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { PartName, Ports } from './ports.ts';
import { KEEPER, KEEPER_PASSWORD, MASTER_NAME } from './prepare.ts';

const run = promisify(execFile);
/** Milliseconds. A machine with much else to do is slow. */
const PATIENCE = 30_000;

export interface Waiting {
  readonly ports: Ports;
  readonly data: string;
  /** Why there is nothing to wait for any more. */
  readonly broken: () => string | undefined;
}

/** Waits until a part does what the next ones need of it. */
export async function untilReady(name: PartName, waiting: Waiting): Promise<void> {
  const deadline = Date.now() + PATIENCE;
  while (!(await isReady(name, waiting).catch(() => false))) {
    const broken = waiting.broken();
    if (broken !== undefined) throw new Error(broken);
    if (Date.now() > deadline) throw new Error(`${name} was not ready within ${PATIENCE / 1000} seconds`);
    await sleep(100);
  }
}

async function isReady(name: PartName, { ports, data }: Waiting): Promise<boolean> {
  const port = ports[name];
  switch (name) {
    case 'redis-1':
      return await listens(port);
    case 'redis-2': {
      // Sentinels learn of a replica from the master, and seldom ask: it has to be there before them.
      const password = await readFile(join(data, KEEPER_PASSWORD), 'utf8');
      return (await redisCli(port, ['role'], password)).includes('connected');
    }
    case 'sentinel-1':
    case 'sentinel-2':
    case 'sentinel-3': {
      const quorum = await redisCli(port, ['sentinel', 'ckquorum', MASTER_NAME]);
      const replicas = await redisCli(port, ['sentinel', 'replicas', MASTER_NAME]);
      return quorum.includes('OK 3 usable') && replicas.includes('master-link-status\nok');
    }
    case 'gateway-1':
    case 'gateway-2':
      return (await fetch(`http://127.0.0.1:${port}/health`)).ok;
    default:
      return await listens(port);
  }
}

/** The password goes by the environment: others can read the arguments of a process. */
async function redisCli(port: number, words: readonly string[], password?: string): Promise<string> {
  const who = password === undefined ? [] : ['--user', KEEPER];
  const env = password === undefined ? process.env : { ...process.env, REDISCLI_AUTH: password };
  return (await run('redis-cli', ['-p', String(port), ...who, ...words], { env, timeout: 5_000 })).stdout;
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
