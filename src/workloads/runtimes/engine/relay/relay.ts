import type { Duplex } from 'node:stream';
import { createMux } from './mux.ts';

/** What the relay is told at its start. */
export interface RelayOrders {
  /** Where programs in the container find our proxy. */
  readonly proxyPort?: number;
}

/**
 * Our one program in a container. It lives in the network namespace of the server, and carries bytes between that and us over its
 * own stdin and stdout: from a port on which programs find our proxy, and to the port on which the server listens. It decides
 * nothing. It runs as the text of this function, so it uses nothing from outside its body.
 */
function relay(connect: typeof createMux, orders: RelayOrders): void {
  const net = process.getBuiltinModule('node:net');
  const { pipeline } = process.getBuiltinModule('node:stream');
  const LOOK_EVERY = 50;

  function join(one: Duplex, two: Duplex): void {
    for (const [from, to] of [
      [one, two],
      [two, one],
    ] as const) {
      pipeline(from, to, (error) => {
        if (error) to.destroy();
      });
    }
  }

  /** A server may listen on one kind of loopback only. */
  function reach(
    port: number,
    done: (socket: import('node:net').Socket | undefined) => void,
    hosts = ['127.0.0.1', '::1'],
  ): void {
    const [host, ...others] = hosts;
    if (host === undefined) {
      done(undefined);
      return;
    }
    const socket = net.connect({ host, port, allowHalfOpen: true, noDelay: true });
    socket.once('error', () => reach(port, done, others));
    socket.once('connect', () => {
      socket.removeAllListeners('error');
      socket.on('error', () => {}); // its end says the same
      done(socket);
    });
  }

  function untilListening(port: number): void {
    reach(port, (socket) => {
      socket?.destroy();
      if (socket) mux.note('listening');
      else setTimeout(untilListening, LOOK_EVERY, port);
    });
  }

  const mux = connect(process.stdin, process.stdout, {
    odd: false,
    onOpen(purpose, stream) {
      reach(Number(purpose), (socket) => (socket ? join(stream, socket) : stream.destroy()));
    },
    onNote: (text) => untilListening(Number(text)),
    onEnd: () => process.exit(0),
  });
  if (orders.proxyPort === undefined) {
    mux.note('ready');
    return;
  }
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => {}); // its end says the same
    join(socket, mux.open('egress'));
  });
  server.listen(orders.proxyPort, '127.0.0.1', () => mux.note('ready'));
}

/** The whole program, for `node -e`. */
export function relayProgram(orders: RelayOrders): string {
  return `(${relay.toString()})(${createMux.toString()}, ${JSON.stringify(orders)})`;
}
