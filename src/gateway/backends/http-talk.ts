import type { HttpAnswer, HttpClient } from '../../base/http/index.ts';
import { SallyError, Secret } from '../../base/index.ts';
import { type Event, parseMessage, type RpcMessage, readEvents } from '../../mcp/index.ts';
import type { Call, Credential, Identity } from '../call.ts';

export interface HttpTarget {
  readonly name: string;
  readonly url: string;
  /** Fixed headers for this server, beside the credential. */
  readonly headers: Readonly<Record<string, string | Secret>>;
}

/** Posts messages to one server, with everything that each request to it carries. */
export interface Poster {
  post(
    body: string,
    identity: Identity,
    headers: Readonly<Record<string, string>>,
    call: Call | undefined,
  ): Promise<HttpAnswer>;
  get(identity: Identity, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<HttpAnswer>;
  delete(identity: Identity, headers: Readonly<Record<string, string>>): Promise<void>;
}

const FORGIVEN = new AbortController().signal;
const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export function createPoster(target: HttpTarget, http: HttpClient, credential: Credential): Poster {
  const url = new URL(target.url);
  const fixed = Object.fromEntries(
    Object.entries(target.headers).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
  );
  const forPost = { ...fixed, ...POST_HEADERS };
  const headersFor = async (identity: Identity, own: Readonly<Record<string, string>>, accept: object) => ({
    ...accept,
    ...(await credential(identity, FORGIVEN)),
    ...own,
  });

  return {
    async post(body, identity, own, call) {
      const headers = await headersFor(identity, own, forPost);
      if (!call) return await http.request(url, { method: 'POST', headers, body });
      let abort: ((reason: Error) => void) | undefined;
      const forget = call.onCancel((reason) => abort?.(reason));
      try {
        return await http.request(url, {
          method: 'POST',
          headers,
          body,
          onStart: (stop) => {
            abort = stop;
            if (call.cancelled) stop(call.cancelled);
          },
        });
      } finally {
        forget();
      }
    },

    async get(identity, own, signal) {
      const headers = await headersFor(identity, own, { ...fixed, accept: 'text/event-stream' });
      return await http.request(url, {
        method: 'GET',
        headers,
        onStart: (stop) => {
          const onAbort = (): void => stop(new SallyError('fetch.unreachable', 'the stream is not needed any more'));
          if (signal.aborted) onAbort();
          else signal.addEventListener('abort', onAbort, { once: true });
        },
      });
    },

    async delete(identity, own) {
      const headers = await headersFor(identity, own, fixed);
      await http.request(url, { method: 'DELETE', headers });
    },
  };
}

export function mediaTypeOf(answer: HttpAnswer): string {
  const type = answer.headers['content-type'];
  if (type === 'application/json') return type; // nearly always
  return (
    String(type ?? '')
      .split(';', 1)[0]
      ?.trim()
      .toLowerCase() ?? ''
  );
}

/** The messages of an event stream, with the event each came in. Empty events only carry an id to come back with. */
export async function* readMessages(
  stream: AsyncIterable<Uint8Array>,
  name: string,
): AsyncGenerator<{ readonly event: Event; readonly message: RpcMessage | undefined }, void, void> {
  for await (const event of readEvents(stream)) {
    yield { event, message: event.data === '' ? undefined : understand(event.data, name) };
  }
}

export function understand(text: string, name: string): RpcMessage {
  try {
    return parseMessage(text);
  } catch (cause) {
    throw new SallyError('backend.protocol', `${name} sent something that is not MCP`, { cause });
  }
}

/** What an HTTP status that carries no MCP message means. */
export function refusalOf(name: string, status: number): SallyError {
  if (status === 401 || status === 403) {
    return new SallyError('backend.refused', `${name} refused the gateway (HTTP ${status})`, {
      hint: 'it needs a credential, or other headers than the gateway sends',
    });
  }
  return new SallyError('backend.protocol', `${name} answered HTTP ${status}`, {
    ...(status === 404 || status === 405 ? { hint: 'check that the URL is its MCP endpoint' } : {}),
  });
}
