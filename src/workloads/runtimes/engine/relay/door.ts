import { chmod } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import type { Log } from '../../../../base/index.ts';

/** A socket that only we can open, with the port of the server behind it. It is there once somebody listens inside. */
export function openDoor(
  { socket, port }: { readonly socket: string; readonly port: number },
  connect: (port: number) => Duplex,
  log: Log,
): Server {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const inside = connect(port);
    client.on('error', () => {}); // its end says the same
    pipeline(client, inside, (error) => error && inside.destroy());
    pipeline(inside, client, () => client.destroy());
  });
  server.on('error', (error) => log.error('the door to a server cannot be opened', { error }));
  server.listen(socket, () => void chmod(socket, 0o600).catch(() => {}));
  return server;
}
