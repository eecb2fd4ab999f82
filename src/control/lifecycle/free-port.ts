import { createServer } from 'node:net';
import { SallyError } from '../../base/index.ts';

/**
 * Clients keep the URL of a workload, so its port is chosen once and kept. It lies below the range from which systems give
 * ports to connections that go out: one of those would be in the way at the next start.
 */
const FIRST = 10_000;
const LAST = 32_000;
const TRIES = 50;

export async function chooseFreePort(host: string, random: () => number = Math.random): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = FIRST + Math.floor(random() * (LAST - FIRST));
    if (await isFree(host, port)) return port;
  }
  throw new SallyError('listener.address_refused', `no free port was found on ${host}`, {
    hint: 'name a free port with --proxy-port, and check that --host is an address of this machine',
  });
}

function isFree(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false));
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}
