import type { IncomingHttpHeaders } from 'node:http';
import { getCACertificates } from 'node:tls';
import type { Agent } from 'undici';
import type { AddressRange } from './addresses.ts';
import { Collector } from './collector.ts';
import { withDeadline } from './deadline.ts';
import { guardedLookup, refuseLiteral } from './guard.ts';

export interface HttpClientOptions {
  readonly range: AddressRange;
  /** PEM certificates to trust besides the system's. */
  readonly ca?: string;
  /** A socket file of ours that every request goes through, whatever its URL says. */
  readonly socket?: string;
  readonly connectTimeout?: number;
  /** How long a request may take from its start to its last byte, in milliseconds. Without it who asks sets the deadline. */
  readonly within?: number;
  /** Answers larger than this are refused, in bytes. */
  readonly maxAnswer?: number;
}

export interface HttpRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly onStart?: OnStart | undefined;
}

/**
 * Is given the function that ends the request early, while it connects too, and may give one that is called when the request is
 * over, with all of its stream. Cheaper than a signal, and there is one for each request.
 */
export type OnStart = (abort: (reason: Error) => void) => (() => void) | undefined;

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
  const { range, ca, socket, within, connectTimeout = within ?? 10_000, maxAnswer = MAX_ANSWER } = options;
  let agent: Agent | undefined;
  let opening: Promise<Agent> | undefined;
  let isClosed = false;
  /** With the first request: the library is heavy to load, and many who may ask never do. */
  async function open(): Promise<Agent> {
    const { Agent } = await import('undici');
    agent = new Agent({
      connect: {
        lookup: guardedLookup(range),
        ...(socket === undefined ? {} : { socketPath: socket }),
        timeout: connectTimeout,
        ...(ca === undefined ? {} : { ca: [...getCACertificates('default'), ca] }),
      },
      // Who waits sets the deadline: a tool may take its time, and a quiet event stream is no error.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    if (isClosed) void agent.destroy(); // what is sent through it then fails as it should
    return agent;
  }
  // A backend is called by one URL object again and again: what only depends on the URL is found out once.
  const places = new WeakMap<URL, Place>();
  function placeOf(url: URL): Place {
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
        const place = placeOf(url);
        const onStart = within === undefined ? request.onStart : withDeadline(url, within, request.onStart);
        const collector = new Collector(url, onStart, maxAnswer, resolve, reject);
        if (agent) dispatch(agent, place, request, collector);
        else {
          opening ??= open();
          opening.then((opened) => dispatch(opened, place, request, collector)).catch(reject);
        }
      });
    },
    async close() {
      isClosed = true;
      await (await opening)?.destroy();
    },
  };
}

interface Place {
  readonly origin: string;
  readonly path: string;
}

function dispatch(agent: Agent, { origin, path }: Place, request: HttpRequest, collector: Collector): void {
  const { method, headers, body = null } = request;
  agent.dispatch({ origin, path, method, headers: headers as Record<string, string>, body }, collector);
}
