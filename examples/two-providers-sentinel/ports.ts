import { createServer } from 'node:net';

/** Where everything listens, on 127.0.0.1. The YAML files have the same numbers. */
export const PORTS = {
  corp: 4480,
  hub: 4481,
  balancer: 4483,
  'gateway-1': 4484,
  'gateway-2': 4485,
  tickets: 4491,
  code: 4492,
  reports: 4493,
  'redis-1': 6391,
  'redis-2': 6392,
  'sentinel-1': 26391,
  'sentinel-2': 26392,
  'sentinel-3': 26393,
} as const;

export type PartName = keyof typeof PORTS;
export type Ports = Readonly<Record<PartName, number>>;

/** Others, that nobody listens on right now. */
export async function freePorts(): Promise<Ports> {
  const names = Object.keys(PORTS);
  // All at once, so that none is given out twice.
  const servers = names.map(() => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => new Promise((resolve) => server.once('listening', resolve))));
  const ports = servers.map((server) => (server.address() as { port: number }).port);
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  return Object.fromEntries(names.map((name, index) => [name, ports[index]])) as Record<PartName, number>;
}

/** The first of them that is taken. */
export async function takenPort(ports: Ports): Promise<PartName | undefined> {
  for (const [name, port] of Object.entries(ports)) {
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
    if (!isFree) return name as PartName;
  }
  return undefined;
}
