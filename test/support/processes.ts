import { readdirSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

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
