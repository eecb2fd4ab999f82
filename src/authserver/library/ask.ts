import type { EventEmitter } from 'node:events';
import { IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';

/** A request that we made ourselves out of what we took over from the real one. */
export interface Question {
  readonly method: 'GET' | 'POST';
  /** As the library knows it, without the path of the issuer. */
  readonly path: string;
  readonly search?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Answer {
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string;
  /** The client that the library recognised, and authenticated where the endpoint asks for it. */
  readonly clientId?: string;
  /** What went wrong on our side, when the status says so. */
  readonly failure?: unknown;
}

/**
 * The library as a function: a whole request in, a whole answer out. It never meets a socket, nor a header that we did not choose.
 * Host, scheme and mount path are those of the issuer, whatever the real request says of them.
 */
export type Ask = (question: Question) => Promise<Answer>;

interface Facts {
  clientId?: string;
  failure?: unknown;
}

export function createAsk(provider: Provider, issuer: URL): Ask {
  const facts = new WeakMap<object, Facts>();
  const note = (ctx: KoaContextWithOIDC, fact: Facts) => facts.set(ctx.req, { ...facts.get(ctx.req), ...fact });

  provider.use(async (ctx, next) => {
    await next();
    // The context of the library is there once one of its routes was found.
    const clientId = (ctx as Partial<KoaContextWithOIDC>).oidc?.client?.clientId;
    if (clientId !== undefined) note(ctx as KoaContextWithOIDC, { clientId });
  });
  provider.on('server_error', (ctx, failure) => note(ctx, { failure }));
  // Koa prints what nobody listens for. The answer is a 500, which the edge reports.
  (provider as EventEmitter).on('error', (failure: unknown, ctx?: KoaContextWithOIDC) => ctx && note(ctx, { failure }));

  const callback = provider.callback();
  return async (question) => {
    const request = requestOf(question, issuer);
    const response = new Recorder(request);
    callback(request, response);
    const { status, headers, body } = await response.recorded;
    return { status, headers, body, ...facts.get(request) };
  };
}

function requestOf({ method, path, search = '', headers = {}, body = '' }: Question, issuer: URL): IncomingMessage {
  const socket = Object.assign(new Socket(), { encrypted: issuer.protocol === 'https:' });
  const mountPath = issuer.pathname === '/' ? '' : issuer.pathname;
  const request = Object.assign(new IncomingMessage(socket), {
    method,
    url: `${path}${search}`,
    // Where the library finds the part of its addresses that it does not see (Express has the same name for it).
    baseUrl: mountPath,
    httpVersion: '1.1',
    httpVersionMajor: 1,
    httpVersionMinor: 1,
    complete: true,
    headers: {
      ...headers,
      host: issuer.host,
      // Errors come as JSON, not as the library's pages.
      accept: 'application/json',
      ...(method === 'POST' ? { 'content-length': String(Buffer.byteLength(body)) } : {}),
    },
  });
  if (body !== '') request.push(body);
  request.push(null);
  return request;
}

/** Collects what is written instead of sending it. */
class Recorder extends ServerResponse {
  readonly #chunks: Buffer[] = [];
  #finish: (answer: { status: number; headers: OutgoingHttpHeaders; body: string }) => void = () => {};
  readonly recorded = new Promise<{ status: number; headers: OutgoingHttpHeaders; body: string }>((resolve) => {
    this.#finish = resolve;
  });

  override write(chunk: string | Uint8Array): boolean {
    this.#chunks.push(Buffer.from(chunk as Uint8Array));
    return true;
  }

  override end(chunk?: unknown): this {
    if (typeof chunk === 'string' || chunk instanceof Uint8Array) this.write(chunk);
    this.#finish({
      status: this.statusCode,
      headers: this.getHeaders(),
      body: Buffer.concat(this.#chunks).toString('utf8'),
    });
    return this;
  }
}
