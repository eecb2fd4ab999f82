import { lookup } from 'node:dns/promises';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { connect, isIP, type Socket } from 'node:net';
import { type Duplex, pipeline } from 'node:stream';
import type { Log } from '../../base/index.ts';
import { type Decision, decide, type EgressRules, isGatewayName, plainHost, whyNotAddress } from './egress.ts';

const CONNECT_WITHIN = 10_000;
const QUIET_FOR = 600_000;
const HEADER_WITHIN = 30_000;
const RESOLVE_WITHIN = 10_000;
/** How this hop is spoken of, and nothing that a server on the way may read (RFC 9110 §7.6.1). */
const HOP_BY_HOP = new Set([
  ...['connection', 'keep-alive', 'proxy-authenticate', 'proxy-authorization', 'proxy-connection', 'te', 'trailer'],
  ...['transfer-encoding', 'upgrade'],
]);

export interface EgressParts {
  readonly server: string;
  readonly log: Log;
  /** The addresses of a name, as this machine sees them. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
}

/** The one way out for an isolated server. */
export interface EgressProxy {
  /** A program in the container speaks to us as to its HTTP proxy. */
  accept(stream: Duplex): void;
  close(): void;
}

/** Where a request may go: an address that was checked, and is the one that we connect to. */
export type Way = Decision & { readonly address?: string };

/** Decides about a host and port, asking where the name leads when the rules allow it. */
export async function findWay(
  rules: EgressRules,
  host: string,
  port: number,
  resolve: NonNullable<EgressParts['resolve']> = systemResolve,
): Promise<Way> {
  const no = (why: string): Way => ({ allowed: false, why, exact: false });
  const plain = plainHost(host);
  if (plain === undefined || !Number.isInteger(port) || port < 1 || port > 65_535) return no('it is no host and port');
  const decision = decide(rules, plain, port);
  if (!decision.allowed) return decision;
  const addresses = isGatewayName(plain) ? ['127.0.0.1'] : isIP(plain) ? [plain] : await resolve(plain).catch(() => []);
  const [address] = addresses;
  if (address === undefined) return no('the name is unknown');
  for (const each of addresses) {
    const why = whyNotAddress(rules, decision, each);
    if (why !== undefined) return no(`${why} (${each})`);
  }
  return { ...decision, address };
}

/** An HTTP proxy over streams that are handed to it. It listens nowhere, names are resolved by us, and nothing is allowed by default. */
export function createEgressProxy(
  rules: EgressRules,
  { server, log, resolve = systemResolve }: EgressParts,
): EgressProxy {
  const open = new Set<Duplex>();

  async function way(host: string, port: number): Promise<Way> {
    const found = await findWay(rules, host, port, resolve);
    if (found.allowed) log.debug('server reaches out', { server, host, port, address: found.address });
    else log.warn('server was kept from reaching out', { server, host: host.slice(0, 253), port, why: found.why });
    return found;
  }

  async function tunnel(message: IncomingMessage, client: Duplex, head: Buffer): Promise<void> {
    const [, host = '', port = ''] = /^(.+):([0-9]{1,5})$/.exec(message.url ?? '') ?? [];
    const found = await way(host, Number(port));
    if (found.address === undefined) return refuse(client, found.why);
    const upstream = dial(found.address, Number(port));
    upstream.once('error', () => client.destroy());
    upstream.once('connect', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      if (head.length > 0) upstream.write(head);
      join(client, upstream);
    });
  }

  async function forward(message: IncomingMessage, answer: ServerResponse): Promise<void> {
    const url = URL.parse(message.url ?? '');
    if (url?.protocol !== 'http:' || `${url.username}${url.password}` !== '') {
      answer.writeHead(400, { connection: 'close' }).end('this is a proxy for http:// and CONNECT\n');
      return;
    }
    const port = Number(url.port || 80);
    const found = await way(url.hostname, port);
    if (found.address === undefined) {
      answer.writeHead(403, { connection: 'close' }).end(refusal(found.why));
      return;
    }
    const outgoing = request({
      createConnection: () => dial(found.address ?? '', port),
      method: message.method ?? 'GET',
      path: `${url.pathname}${url.search}`,
      headers: { ...endToEnd(message), host: url.host, connection: 'close' },
      setHost: false,
    });
    outgoing.once('response', (incoming) => {
      answer.writeHead(incoming.statusCode ?? 502, endToEnd(incoming));
      pipeline(incoming, answer, () => {});
    });
    outgoing.once('error', () => (answer.headersSent ? answer.destroy() : answer.writeHead(502).end('no answer\n')));
    pipeline(message, outgoing, () => {});
  }

  function dial(address: string, port: number): Socket {
    const socket = connect({ host: address, port, allowHalfOpen: true, noDelay: true, timeout: CONNECT_WITHIN });
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    socket.on('error', () => {}); // its end says the same
    socket.on('timeout', () => socket.destroy());
    socket.once('connect', () => socket.setTimeout(QUIET_FOR));
    return socket;
  }

  const http = createServer({ headersTimeout: HEADER_WITHIN, requestTimeout: 0, keepAliveTimeout: 5_000 });
  http.on('request', (message, answer) => {
    forward(message, answer).catch((error: unknown) => {
      log.error('the proxy of a server met a bug', { server, error });
      answer.destroy();
    });
  });
  http.on('connect', (message, client: Duplex, head) => {
    tunnel(message, client, head).catch((error: unknown) => {
      log.error('the proxy of a server met a bug', { server, error });
      client.destroy();
    });
  });
  http.on('clientError', (_error, client) => client.destroy());

  return {
    accept(stream) {
      open.add(stream);
      stream.once('close', () => open.delete(stream));
      http.emit('connection', stream);
    },
    close() {
      for (const stream of open) stream.destroy();
    },
  };
}

function join(one: Duplex, two: Duplex): void {
  pipeline(one, two, (error) => error && two.destroy());
  pipeline(two, one, (error) => error && one.destroy());
}

function refuse(client: Duplex, why: string): void {
  const body = refusal(why);
  client.end(
    `HTTP/1.1 403 Forbidden\r\ncontent-type: text/plain\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}

function refusal(why: string): string {
  return `Sallyport does not let this server go there: ${why}\n`;
}

function endToEnd({ headers }: IncomingMessage): Record<string, string | string[]> {
  const named = String(headers.connection ?? '')
    .toLowerCase()
    .split(/\s*,\s*/);
  const kept = Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name) && !named.includes(name));
  return Object.fromEntries(kept.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])));
}

async function systemResolve(host: string): Promise<readonly string[]> {
  const late = AbortSignal.timeout(RESOLVE_WITHIN);
  const over = new Promise<never>((_, reject) => late.addEventListener('abort', () => reject(late.reason)));
  const found = await Promise.race([lookup(host, { all: true }), over]);
  return found.map(({ address }) => address);
}
