import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Where a command is held: before the server hears of it, or after it was carried out and before the answer is heard. */
export type HoldAt = 'before' | 'after';

export interface HoldingProxy extends AsyncDisposable {
  readonly address: string;
  /** Holds everything from the n-th command that writes, counted from now. Resolves when that is there. */
  holdAt(place: HoldAt, n: number): Promise<void>;
  /** Lets everything through. What was held is lost with its connection. */
  release(): void;
}

/** Commands that change something, as they stand in the protocol of Redis. */
const WRITES = /\r\n(SET|EVAL|GETDEL|DEL|ZREM|PUBLISH)\r\n/g;

/** A way to a Redis server on which a program can be caught at a chosen step. */
export async function startHoldingProxy(port: number): Promise<HoldingProxy> {
  const sockets = new Set<Socket>();
  let armed: { place: HoldAt; left: number; reached: () => void } | undefined;
  let isHolding = false;

  const proxy = createServer((client) => {
    const server = connect(port, '127.0.0.1');
    let isMute = false;
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => {}); // `close` follows
      socket.once('close', () => {
        for (const end of [client, server]) sockets.delete(end.destroy());
      });
    }
    client.on('data', (commands) => {
      if (isHolding) return;
      const count = commands.toString('latin1').match(WRITES)?.length ?? 0;
      if (armed) armed.left -= count;
      if (!armed || armed.left > 0) return void server.write(commands);
      isHolding = true;
      isMute = true;
      if (armed.place === 'after') server.write(commands);
      // Long enough for the server to carry it out.
      setTimeout(armed.reached, armed.place === 'after' ? 50 : 0);
      armed = undefined;
    });
    server.on('data', (answer) => {
      if (!isMute && !isHolding) client.write(answer);
    });
  });
  await once(proxy.listen(0, '127.0.0.1'), 'listening');
  return {
    address: `127.0.0.1:${(proxy.address() as AddressInfo).port}`,
    holdAt(place, n) {
      const { promise, resolve } = Promise.withResolvers<void>();
      armed = { place, left: n, reached: resolve };
      return promise;
    },
    release() {
      armed = undefined;
      isHolding = false;
      for (const socket of sockets) socket.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      proxy.close();
      await once(proxy, 'close');
    },
  };
}
