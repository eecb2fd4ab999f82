import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
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

/** A port that nobody listens on right now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
