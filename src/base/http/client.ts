import { lookup as resolve } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent } from 'undici';
import { codeOf, SallyError } from '../errors.ts';
import { type AddressRange, isAllowedAddress } from './addresses.ts';

export interface HttpClientOptions {
  readonly range: AddressRange;
  /** PEM certificates to trust besides the system's. */
  readonly ca?: string;
  readonly connectTimeout?: number;
  /** How long the answer's first byte may take, in milliseconds. */
  readonly answerTimeout?: number;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

export interface HttpAnswer {
  readonly status: number;
  header(name: string): string | undefined;
  /** The body as it arrives. It must be read or dropped, else the connection stays busy. */
  readonly body: AsyncIterable<Uint8Array>;
  text(limit: number): Promise<string>;
  drop(): Promise<void>;
}

/** The one way out. Every address is checked at the moment of connecting, so neither DNS tricks nor redirects lead elsewhere. */
export interface HttpClient {
  request(url: URL, request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const agent = new Agent({
    connect: {
      lookup: guardedLookup(options.range),
      timeout: options.connectTimeout ?? 10_000,
      ...(options.ca === undefined ? {} : { ca: options.ca }),
    },
    headersTimeout: options.answerTimeout ?? 300_000,
    // A quiet event stream is no error.
    bodyTimeout: 0,
  });
  return {
    async request(url, request) {
      refuseLiteral(url, options.range);
      try {
        const { statusCode, headers, body } = await agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: request.method,
          headers: request.headers,
          signal: request.signal,
          ...(request.body === undefined ? {} : { body: request.body }),
        });
        return {
          status: statusCode,
          header: (name) => first(headers[name]),
          body,
          text: (limit) => readText(body, limit),
          drop: () => body.dump(),
        };
      } catch (error) {
        throw explain(error, url);
      }
    },
    close: () => agent.destroy(),
  };
}

/** An IP address written into the URL never reaches the resolver, so it is checked here. */
function refuseLiteral(url: URL, range: AddressRange): void {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw refused(url.protocol);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  if (isIP(host) !== 0 && !isAllowedAddress(host, range)) throw refused(host);
}

/** Resolves like the system does, and refuses a name as soon as one of its addresses is out of range. */
function guardedLookup(range: AddressRange): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const bad = addresses.find(({ address }) => !isAllowedAddress(address, range));
      if (bad) return callback(refused(`${hostname} (${bad.address})`), '', 0);
      if (options.all) return callback(null, addresses);
      const [chosen] = addresses;
      return callback(null, chosen?.address ?? '', chosen?.family ?? 0);
    });
  };
}

function refused(what: string): SallyError {
  return new SallyError('fetch.address_refused', `requests to ${what} are not allowed`, {
    hint: 'a server of your own network needs allowPrivateEndpoint: true',
  });
}

function explain(error: unknown, url: URL): unknown {
  if (error instanceof SallyError) return error;
  switch (codeOf(error)) {
    case 'UND_ERR_CONNECT_TIMEOUT':
    case 'UND_ERR_HEADERS_TIMEOUT':
      return new SallyError('fetch.timeout', `${url.origin} did not answer in time`, { cause: error });
    case 'ECONNREFUSED':
      return new SallyError('fetch.unreachable', `nothing listens at ${url.origin}`, { cause: error });
    case 'ENOTFOUND':
      return new SallyError('fetch.unreachable', `the name ${url.hostname} is not known`, { cause: error });
    case 'ABORT_ERR':
    case 'UND_ERR_ABORTED':
      return error;
    default:
      return new SallyError('fetch.unreachable', `the connection to ${url.origin} failed`, { cause: error });
  }
}

async function readText(body: AsyncIterable<Uint8Array>, limit: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > limit) throw new SallyError('fetch.too_large', `the answer is larger than ${limit} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function first(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
