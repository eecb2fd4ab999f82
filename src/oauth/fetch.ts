import { createHttpClient, type HttpClient, type HttpClientOptions } from '../base/http/index.ts';
import { SallyError } from '../base/index.ts';

/** What the OAuth libraries ask of a `fetch`: a URL, and as much of a request as they use. */
export interface FetchRequest {
  readonly method?: string;
  readonly headers?: Headers | Readonly<Record<string, string>>;
  readonly body?: string | URLSearchParams | null | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Accepted as a word of the libraries; a redirect is never followed here, whatever it says. */
  readonly redirect?: 'manual' | 'error' | 'follow';
}

/** Shaped like the global `fetch`, on our one way out: addresses checked when connecting, no redirects, no cookies, bounded. */
export interface GuardedFetch {
  (url: string | URL, request?: FetchRequest): Promise<Response>;
  close(): Promise<void>;
}

export interface GuardedFetchOptions extends Omit<HttpClientOptions, 'maxAnswer' | 'connectTimeout' | 'within'> {
  /** How long a request may take from its start to its last byte, in milliseconds. */
  readonly timeout?: number;
  /** Answers larger than this are refused, in bytes. */
  readonly maxAnswer?: number;
}

const TIMEOUT = 10_000;
const MAX_ANSWER = 1024 * 1024;

export function createFetch(options: GuardedFetchOptions): GuardedFetch {
  const { timeout = TIMEOUT, maxAnswer = MAX_ANSWER, ...rest } = options;
  const client = createHttpClient({ ...rest, maxAnswer, within: timeout });
  const guarded = (url: string | URL, request: FetchRequest = {}) => send(client, new URL(url), request);
  return Object.assign(guarded, { close: () => client.close() });
}

async function send(client: HttpClient, url: URL, request: FetchRequest): Promise<Response> {
  const method = methodOf(request.method ?? 'GET');
  const body = request.body?.toString();
  const headers = new Headers(request.headers as Headers | Record<string, string>);
  // The answer is read as it came: what could be unpacked to more than the limit is not asked for.
  headers.set('accept-encoding', 'identity');
  request.signal?.throwIfAborted();

  let leave: ((reason: Error) => void) | undefined;
  const asked = client.request(url, {
    method,
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body }),
    onStart(abort) {
      leave = abort;
      const cancel = (): void => abort(asError(request.signal?.reason));
      request.signal?.addEventListener('abort', cancel, { once: true });
      return () => request.signal?.removeEventListener('abort', cancel);
    },
  });
  const answer = await asked.catch((error: unknown) => {
    // The libraries know their own reason again.
    throw request.signal?.aborted ? asError(request.signal.reason) : error;
  });
  // None of the protocols spoken here streams: an event stream is left at once, and its body is empty.
  if (answer.stream) leave?.(new SallyError('fetch.unreachable', `${url.origin} answered with an event stream`));
  return new Response(hasNoBody(answer.status) ? null : new Uint8Array(answer.bytes), {
    status: answer.status,
    headers: headersOf(answer.headers),
  });
}

function methodOf(method: string): 'GET' | 'POST' | 'DELETE' {
  const upper = method.toUpperCase();
  if (upper === 'GET' || upper === 'POST' || upper === 'DELETE') return upper;
  throw new TypeError(`the guarded fetch does not send ${upper} requests`);
}

function headersOf(received: Readonly<Record<string, string | string[] | undefined>>): Headers {
  const headers = new Headers();
  for (const [name, value] of Object.entries(received)) {
    for (const one of Array.isArray(value) ? value : [value]) if (one !== undefined) headers.append(name, one);
  }
  return headers;
}

/** The statuses that `Response` refuses a body for. */
function hasNoBody(status: number): boolean {
  return status === 204 || status === 205 || status === 304;
}

function asError(reason: unknown): Error {
  return reason instanceof Error ? reason : new Error('the request was cancelled');
}
