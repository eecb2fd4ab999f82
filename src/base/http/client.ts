import type { IncomingHttpHeaders } from 'node:http';
import type { Agent } from 'undici';
import { SallyError } from '../errors.ts';
import type { AddressRange } from './addresses.ts';
import { type Lease, lease } from './agents.ts';
import { Collector } from './collector.ts';
import { withDeadline } from './deadline.ts';
import { refuseLiteral } from './guard.ts';
import { UnderWay } from './under-way.ts';

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
  /** Loads what the first request needs, for who has to wait for something else until then. */
  prepare(): void;
  close(): Promise<void>;
}

const MAX_ANSWER = 64 * 1024 * 1024;

export function createHttpClient(options: HttpClientOptions): HttpClient {
  const { range, ca, socket, within, connectTimeout = within ?? 10_000, maxAnswer = MAX_ANSWER } = options;
  let agent: Agent | undefined;
  let leased: Lease | undefined;
  let isClosed = false;
  const underWay = new UnderWay<Collector>();

  /** With the first request. */
  function open(): Promise<Agent> {
    leased ??= lease({ range, ca, socket, connectTimeout });
    return leased.agent.then((opened) => {
      agent = opened;
      return opened;
    });
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
        const collector = new Collector(url, onStart, { maxAnswer, underWay, resolve, reject });
        if (isClosed) collector.stop(closed(url));
        else if (agent) dispatch(agent, place, request, collector);
        else
          open()
            .then((opened) => dispatch(opened, place, request, collector))
            .catch(reject);
      });
    },
    prepare() {
      if (!isClosed) open().catch(() => {}); // the first request tells
    },
    async close() {
      if (isClosed) return;
      isClosed = true;
      for (const collector of underWay.all()) collector.stop(closed(collector.url));
      await leased?.release();
    },
  };
}

function closed(url: URL): SallyError {
  return new SallyError('fetch.unreachable', `the connection to ${url.origin} is not needed any more`);
}

interface Place {
  readonly origin: string;
  readonly path: string;
}

function dispatch(agent: Agent, { origin, path }: Place, request: HttpRequest, collector: Collector): void {
  const { method, headers, body = null } = request;
  agent.dispatch({ origin, path, method, headers: headers as Record<string, string>, body }, collector);
}
