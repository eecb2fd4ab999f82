import { connect as connectPlain, isIP, type NetConnectOpts, Socket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import type { AbstractConnector, CommonRedisOptions } from 'ioredis';
import type { RedisAddress, RedisTlsPlan } from '../../../plan/index.ts';

export type Connector = NonNullable<CommonRedisOptions['Connector']>;

export interface Dialling {
  /** Where to connect to this time; the address in the client's own options when not given. */
  readonly locate?: () => Promise<RedisAddress>;
  readonly connected?: (address: RedisAddress) => void;
  readonly tls: RedisTlsPlan | undefined;
  /** Milliseconds for connection and handshake together. */
  readonly within: number;
  /** Servers that say to be something else are left at once. */
  readonly role?: 'master';
}

/**
 * How the library gets its sockets. Its own way hears the first error of a socket and lets the second end the process, which
 * TLS needs no more than a connection that closes during its handshake for.
 */
export function createConnector(Base: typeof AbstractConnector, dialling: Dialling): Connector {
  const { locate, connected, tls, within, role } = dialling;

  return class GuardedConnector extends Base {
    readonly #own: RedisAddress;
    #attempt: AbortController | undefined;

    constructor(options: unknown) {
      super(0);
      this.#own = options as RedisAddress;
    }

    async connect(): Promise<Socket> {
      this.connecting = true;
      this.#attempt?.abort();
      const attempt = new AbortController();
      this.#attempt = attempt;
      try {
        const address = locate ? await locate() : this.#own;
        attempt.signal.throwIfAborted();
        const socket = await open(address, tls, AbortSignal.any([attempt.signal, AbortSignal.timeout(within)]));
        this.stream = socket;
        if (attempt.signal.aborted) socket.destroy();
        else connected?.(address);
        return socket;
      } catch (error) {
        // A rejection would be the end of the client; a dead socket makes it try again.
        this.firstError = error as Error;
        return new Socket().destroy();
      }
    }

    override check(info: { readonly role?: string }): boolean {
      return role === undefined || info.role === undefined || info.role === role;
    }

    override disconnect(): void {
      this.connecting = false;
      this.#attempt?.abort();
      this.stream?.destroy();
    }
  } as unknown as Connector;
}

function open({ host, port }: RedisAddress, tls: RedisTlsPlan | undefined, signal: AbortSignal): Promise<Socket> {
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const to: NetConnectOpts = { host, port };
  const socket = tls ? connectSecure({ ...to, ...secureOptions(host, tls) }) : connectPlain(to);
  const giveUp = (): void => void socket.destroy(reasonOf(signal, host, port));
  signal.addEventListener('abort', giveUp, { once: true });
  socket.on('error', reject); // stays: later errors are told by `close`
  socket.once('close', () => reject(new Error(`the connection to ${host}:${port} closed`)));
  socket.once(tls ? 'secureConnect' : 'connect', () => {
    signal.removeEventListener('abort', giveUp);
    resolve(socket);
  });
  return promise;
}

function secureOptions(host: string, { ca, verify }: RedisTlsPlan): object {
  return {
    rejectUnauthorized: verify,
    ...(ca === undefined ? {} : { ca }),
    ...(isIP(host) ? {} : { servername: host }),
  };
}

function reasonOf(signal: AbortSignal, host: string, port: number): Error {
  const isLate = signal.reason instanceof Error && signal.reason.name === 'TimeoutError';
  return new Error(isLate ? `no connection to ${host}:${port} in time` : 'the connection is no longer wanted');
}
