import type { Duplex } from 'node:stream';
import { createMux } from './mux.ts';

/** What the relay is told at its start. */
export interface RelayOrders {
  /** Where programs in the container find our proxy. */
  readonly proxyPort?: number;
  /** Our pipe, where stdin and stdout belong to the server: a process has the relay as its parent. */
  readonly fd?: number;
}

/**
 * Our one program in a container. It lives in the network namespace of the server, and carries bytes between that and us over its
 * own stdin and stdout: from a port on which programs find our proxy, and to the port on which the server listens. It decides
 * nothing. It runs as the text of this function, so it uses nothing from outside its body.
 *
 * Around a process it has another pipe, and starts the server that its arguments name, once its ways are open.
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

  /** It ends with the server and as the server does. What asks the server to end is not for the relay. */
  function becomeServer([command = '', ...args]: readonly string[]): void {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => {});
    const { spawn } = process.getBuiltinModule('node:child_process');
    const { signals } = process.getBuiltinModule('node:os').constants;
    const server = spawn(command, args, { stdio: 'inherit' });
    server.once('error', (error) => {
      process.stderr.write(`the server cannot be started: ${error.message}\n`);
      process.exit(127);
    });
    server.once('exit', (code, signal) => process.exit(code ?? 128 + (signal === null ? 0 : signals[signal])));
  }

  function ready(): void {
    mux.note('ready');
    if (orders.fd !== undefined) becomeServer(process.argv.slice(1));
  }

  const pipe = orders.fd === undefined ? undefined : new net.Socket({ fd: orders.fd, readable: true, writable: true });
  const mux = connect(pipe ?? process.stdin, pipe ?? process.stdout, {
    odd: false,
    onOpen(purpose, stream) {
      reach(Number(purpose), (socket) => (socket ? join(stream, socket) : stream.destroy()));
    },
    onNote: (text) => untilListening(Number(text)),
    onEnd: () => process.exit(0),
  });
  if (orders.proxyPort === undefined) {
    ready();
    return;
  }
  const server = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    socket.on('error', () => {}); // its end says the same
    join(socket, mux.open('egress'));
  });
  server.listen(orders.proxyPort, '127.0.0.1', ready);
}

/** The whole program, for `node -e`. */
export function relayProgram(orders: RelayOrders): string {
  return `(${relay.toString()})(${createMux.toString()}, ${JSON.stringify(orders)})`;
}
