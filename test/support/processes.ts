import { readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { birthOf, type ProcessIdentity } from '../../src/base/files/index.ts';

/** Process ids on this machine whose environment holds `NAME=VALUE`. A test marks what it starts, and counts what is left. */
export function processesWith(name: string, value: string): number[] {
  const marker = `${name}=${value}`;
  return readdirSync('/proc')
    .filter((entry) => /^[0-9]+$/.test(entry))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0').includes(marker);
      } catch {
        return false; // gone in the meantime, or somebody else's
      }
    })
    .map(Number);
}

/** Process ids on this machine that have this path in a word of their command. */
export function processesNaming(path: string): number[] {
  return readdirSync('/proc')
    .filter((entry) => /^[0-9]+$/.test(entry))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(`${path}/`);
      } catch {
        return false; // gone in the meantime
      }
    })
    .map(Number);
}

/** What a process is called, or nothing when it is gone. */
export function programOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** A process and everything below it, as it is now. */
export function familyOf(pid: number): readonly ProcessIdentity[] {
  const parents = new Map<number, number>();
  for (const entry of readdirSync('/proc').filter((name) => /^[0-9]+$/.test(name))) {
    try {
      const stat = readFileSync(`/proc/${entry}/stat`, 'latin1');
      parents.set(Number(entry), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {
      // gone in the meantime
    }
  }
  const below = (of: number): number[] =>
    [...parents].filter(([, parent]) => parent === of).flatMap(([child]) => [child, ...below(child)]);
  return [pid, ...below(pid)].flatMap((member) => {
    const born = birthOf(member);
    return born === undefined ? [] : [{ pid: member, born }];
  });
}

/** Waits until a check holds, and fails with what it last saw. */
export async function eventually<T>(
  look: () => T | Promise<T>,
  holds: (seen: T) => boolean,
  within = 5_000,
): Promise<T> {
  const deadline = Date.now() + within;
  for (;;) {
    const seen = await look();
    if (holds(seen)) return seen;
    if (Date.now() > deadline) throw new Error(`still ${JSON.stringify(seen)} after ${within} ms`);
    await sleep(50);
  }
}

/**
 * Below those that systems hand out by themselves, to whoever connects or asks for any, and below those that `sally run` chooses; above
 * those that browsers refuse to visit.
 */
const PORTS = { first: 7_000, perWorker: 750 };
const worker = Number(process.env.VITEST_POOL_ID ?? 0) % 4;
let next = Math.floor(Math.random() * PORTS.perWorker);

/**
 * A port that nobody listens on, for a program that is told its port. Each worker has its own, and goes through them in turn: nobody takes one
 * between here and the moment in which the program listens.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    next = (next + 1) % PORTS.perWorker;
    const port = PORTS.first + worker * PORTS.perWorker + next;
    if (await isFree(port)) return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer();
  const listens = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => resolve(true));
  });
  if (listens) await new Promise((resolve) => server.close(resolve));
  return listens;
}
