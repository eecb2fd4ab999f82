import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { codeOf, type HttpHandler, SallyError } from '../../base/index.ts';

export interface Listener {
  /** `http://127.0.0.1:4483`, with the port the system chose when none was asked for. */
  readonly url: string;
  /** From here on new requests reach this handler. Requests already under way stay where they are. */
  hand(handler: HttpHandler): void;
  /** Stops accepting, lets open requests end, and cuts what is left when the signal says so. */
  close(cut: AbortSignal): Promise<void>;
}

/** How long a refused client may take to read why, in milliseconds. */
const LINGER = 500;

export async function listen(host: string, port: number): Promise<Listener> {
  let handler: HttpHandler = (_request, response) => void response.writeHead(503).end();
  /** Every connection, with the number of answers it still waits for. Node counts one that never sent anything as busy. */
  const busy = new Map<Socket, number>();
  let closing = false;

  const server = createServer(
    {
      // A client that dribbles its request holds a socket for seconds, not for ever.
      headersTimeout: 10_000,
      connectionsCheckingInterval: 2_000,
      requestTimeout: 30_000,
      keepAliveTimeout: 65_000,
      maxHeaderSize: 16 * 1024,
      noDelay: true,
    },
    (request, response) => {
      const { socket } = request;
      busy.set(socket, (busy.get(socket) ?? 0) + 1);
      response.on('close', () => {
        const left = (busy.get(socket) ?? 1) - 1;
        if (busy.has(socket)) busy.set(socket, left);
        if (closing && left === 0) socket.end();
      });
      handler(request, response);
    },
  );
  server.on('connection', (socket: Socket) => {
    busy.set(socket, 0);
    socket.once('close', () => busy.delete(socket));
  });
  server.on('clientError', (error, socket) => {
    if (socket.writable) socket.end(`HTTP/1.1 ${statusOf(error)}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    // Our end is closed; a client that keeps its own open would keep the socket for as long as it likes.
    setTimeout(() => socket.destroy(), LINGER).unref();
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(explain(error, host, port)));
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;

  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`,
    hand(next) {
      handler = next;
    },
    async close(cut) {
      closing = true;
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const [socket, answers] of busy) if (answers === 0) socket.destroy();
      const abort = (): void => server.closeAllConnections();
      if (cut.aborted) abort();
      cut.addEventListener('abort', abort, { once: true });
      await closed;
      cut.removeEventListener('abort', abort);
    },
  };
}

function statusOf(error: Error): string {
  switch (codeOf(error)) {
    case 'HPE_HEADER_OVERFLOW':
      return '431 Request Header Fields Too Large';
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return '408 Request Timeout';
    default:
      return '400 Bad Request';
  }
}

function explain(error: Error, host: string, port: number): SallyError {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new SallyError('listener.port_in_use', `another program already listens on ${host}:${port}`, {
        cause: error,
        hint: 'stop it, or choose another port (0 picks a free one): --port, --proxy-port or proxyPort',
      });
    case 'EACCES':
      return new SallyError('listener.address_refused', `listening on ${host}:${port} needs more rights`, {
        cause: error,
        hint: 'choose a port above 1023',
      });
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return new SallyError('listener.address_refused', `${host} is not an address of this machine`, {
        cause: error,
        hint: 'use 127.0.0.1, ::1, 0.0.0.0 or an address that `ip addr` shows',
      });
    default:
      return new SallyError('listener.address_refused', `cannot listen on ${host}:${port}`, { cause: error });
  }
}
