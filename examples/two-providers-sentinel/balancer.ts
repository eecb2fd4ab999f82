import { connect, createServer, type Socket } from 'node:net';

export interface Balancer {
  readonly port: number;
  close(): Promise<void>;
}

/** Leads each connection on 127.0.0.1 to the next of these ports, past those where nobody answers. A toy: put a real balancer in its place. */
export async function startBalancer(port: number, to: readonly number[]): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const keep = (socket: Socket): Socket => {
    sockets.add(socket);
    return socket.once('close', () => sockets.delete(socket));
  };

  function lead(client: Socket, left: number): void {
    const server = keep(connect(to[turn++ % to.length] as number, '127.0.0.1'));
    let isConnected = false;
    server.once('connect', () => {
      isConnected = true;
      client.pipe(server).pipe(client);
    });
    server.on('error', () => (isConnected || left === 0 ? client.destroy() : lead(client, left - 1)));
    client.once('close', () => server.destroy());
    server.once('close', () => isConnected && client.destroy());
  }

  const balancer = createServer((client) => {
    keep(client).on('error', () => {}); // `close` follows
    lead(client, to.length - 1);
  });
  await new Promise<void>((resolve, reject) => {
    balancer.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
  return {
    port: (balancer.address() as { port: number }).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => balancer.close(resolve));
    },
  };
}

// As a program: node examples/two-providers-sentinel/balancer.ts PORT TO TO …
if (import.meta.main) {
  const [port = 0, ...to] = process.argv.slice(2).map(Number);
  await startBalancer(port, to);
  process.stdout.write(`Balancer at http://127.0.0.1:${port}, in front of ${to.join(' and ')}.\n`);
}
