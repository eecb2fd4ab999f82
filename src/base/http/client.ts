import type { IncomingHttpHeaders } from 'node:http';
import { getCACertificates } from 'node:tls';
import { Agent, type Dispatcher } from 'undici';
import { codeOf, SallyError } from '../errors.ts';
import type { AddressRange } from './addresses.ts';
import { createChunks } from './chunks.ts';
import { guardedLookup, refuseLiteral } from './guard.ts';

export interface HttpClientOptions {
  readonly range: AddressRange;
  /** PEM certificates to trust besides the system's. */
  readonly ca?: string;
  readonly connectTimeout?: number;
  /** Answers larger than this are refused, in bytes. */
  readonly maxAnswer?: number;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Is given the function that ends the request early. Cheaper than a signal, and there is one for each request. */
  readonly onStart?: (abort: (reason: Error) => void) => void;
}

/** A whole answer, or an event stream that goes on. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly bytes: Buffer;
  /** Present on an event stream, whose bytes come as they come. */
  readonly stream?: AsyncIterable<Uint8Array>;
}

/** The one way out. Every address is checked at the moment of connecting, so neither DNS tricks nor redirects lead elsewhere. */
export interface HttpClient {
  request(url: URL, request: HttpRequest): Promise<HttpAnswer>;
  close(): Promise<void>;
}

const MAX_ANSWER = 64 * 1024 * 1024;

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { range, ca, connectTimeout = 10_000, maxAnswer = MAX_ANSWER } = options;
  const agent = new Agent({
    connect: {
      lookup: guardedLookup(range),
      timeout: connectTimeout,
      ...(ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] }),
    },
    // Who waits sets the deadline: a tool may take its time, and a quiet event stream is no error.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
  // A backend is called by one URL object again and again: what only depends on the URL is found out once.
  const places = new WeakMap<URL, { readonly origin: string; readonly path: string }>();
  function placeOf(url: URL): { readonly origin: string; readonly path: string } {
    const known = places.get(url);
    if (known) return known;
    refuseLiteral(url, range);
    const place = { origin: url.origin, path: `${url.pathname}${url.search}` };
    places.set(url, place);
    return place;
  }

  return {
    request(url, request) {
      return new Promise((resolve, reject) => {
        const { origin, path } = placeOf(url);
        agent.dispatch(
          {
            origin,
            path,
            method: request.method,
            headers: request.headers as Record<string, string>,
            body: request.body ?? null,
          },
          collect(url, request, maxAnswer, resolve, reject),
        );
      });
    },
    close: () => agent.destroy(),
  };
}

/** Gathers an answer without a stream object in between, unless it is a stream: most answers are one small chunk. */
function collect(
  url: URL,
  request: HttpRequest,
  maxAnswer: number,
  resolve: (answer: HttpAnswer) => void,
  reject: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  let status = 0;
  let headers: IncomingHttpHeaders = {};
  let first: Buffer | undefined;
  let more: Buffer[] | undefined;
  let size = 0;
  let stream: ReturnType<typeof createChunks> | undefined;
  return {
    onRequestStart(controller) {
      request.onStart?.((reason) => controller.abort(reason));
    },
    onResponseStart(controller, statusCode, received) {
      status = statusCode;
      headers = received as IncomingHttpHeaders;
      if (!isEventStream(headers['content-type'])) return;
      stream = createChunks({
        pause: () => controller.pause(),
        resume: () => controller.resume(),
        abandon: () => controller.abort(new SallyError('fetch.unreachable', 'the stream was left')),
      });
      resolve({ status, headers, bytes: Buffer.alloc(0), stream: stream.chunks });
    },
    onResponseData(controller, chunk) {
      if (stream) return stream.push(chunk);
      size += chunk.byteLength;
      if (size > maxAnswer) {
        controller.abort(new SallyError('fetch.too_large', `${url.origin} answered more than ${maxAnswer} bytes`));
      } else if (!first) first = chunk;
      else if (more) more.push(chunk);
      else more = [first, chunk];
    },
    onResponseEnd() {
      if (stream) return stream.end();
      resolve({ status, headers, bytes: more ? Buffer.concat(more) : (first ?? Buffer.alloc(0)) });
    },
    onResponseError(_controller, error) {
      const explained = explain(error, url);
      if (stream) stream.fail(explained);
      else reject(explained);
    },
  };
}

function isEventStream(type: string | undefined): boolean {
  return type !== undefined && type !== 'application/json' && type.toLowerCase().startsWith('text/event-stream');
}

function explain(error: unknown, url: URL): Error {
  if (error instanceof SallyError) return error;
  switch (codeOf(error)) {
    case 'UND_ERR_CONNECT_TIMEOUT':
      return new SallyError('fetch.timeout', `${url.origin} did not answer in time`, { cause: error });
    case 'ECONNREFUSED':
      return new SallyError('fetch.unreachable', `nothing listens at ${url.origin}`, { cause: error });
    case 'ENOTFOUND':
      return new SallyError('fetch.unreachable', `the name ${url.hostname} is not known`, { cause: error });
    default:
      return new SallyError('fetch.unreachable', `the connection to ${url.origin} failed`, { cause: error });
  }
}
