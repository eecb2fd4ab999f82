import type { HttpAnswer, HttpClient } from '../../base/http/index.ts';
import { SallyError, Secret } from '../../base/index.ts';
import { type Event, parseMessage, type RpcMessage, readEvents } from '../../mcp/index.ts';
import type { Call, Credential, Identity } from '../call.ts';

export interface HttpTarget {
  readonly name: string;
  readonly url: string;
  /** Fixed headers for this server, beside the credential. */
  readonly headers: Readonly<Record<string, string | Secret>>;
  /** The server takes nothing but POST. */
  readonly postOnly?: boolean;
}

type Headers = Readonly<Record<string, string>>;

/** Posts messages to one server, with everything that each request to it carries. */
export interface Poster {
  post(body: string, identity: Identity, headers: Headers, call: Call | undefined): Promise<HttpAnswer>;
  get(identity: Identity, headers: Headers, signal: AbortSignal): Promise<HttpAnswer>;
  delete(identity: Identity, headers: Headers): Promise<void>;
}

const POST_HEADERS = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };

export function createPoster(target: HttpTarget, http: HttpClient, credential: Credential): Poster {
  const url = new URL(target.url);
  const fixed = Object.fromEntries(
    Object.entries(target.headers).map(([name, value]) => [name, value instanceof Secret ? value.reveal() : value]),
  );
  const forPost = { ...fixed, ...POST_HEADERS };

  /** A call that is cancelled ends its request, also while the answer streams in. */
  function send(body: string, headers: Headers, call: Call | undefined): Promise<HttpAnswer> {
    return http.request(url, { method: 'POST', headers, body, onStart: call && ((stop) => call.onCancel(stop)) });
  }

  async function sendWithRenewal(
    body: string,
    identity: Identity,
    own: Headers,
    call: Call | undefined,
  ): Promise<HttpAnswer> {
    const given = credential.headers(identity);
    const shown = given instanceof Promise ? await given : given;
    const answer = await send(body, joined(forPost, shown, own), call);
    if (answer.status !== 401) return answer;
    // Who is refused was not served: sending it again repeats nothing.
    const renewed = await credential.renew?.(identity, shown);
    return renewed ? await send(body, joined(forPost, renewed, own), call) : answer;
  }

  function listen(headers: Headers, signal: AbortSignal): Promise<HttpAnswer> {
    return http.request(url, {
      method: 'GET',
      headers,
      onStart: (stop) => {
        const onAbort = (): void => stop(new SallyError('fetch.unreachable', 'the stream is not needed any more'));
        if (signal.aborted) onAbort();
        else signal.addEventListener('abort', onAbort, { once: true });
        return () => signal.removeEventListener('abort', onAbort);
      },
    });
  }

  return {
    post(body, identity, own, call) {
      const given = credential.renew ? undefined : credential.headers(identity);
      // What cannot be renewed is the same for everybody, and at hand.
      if (given && !(given instanceof Promise)) return send(body, joined(forPost, given, own), call);
      return sendWithRenewal(body, identity, own, call);
    },

    async get(identity, own, signal) {
      const always = { ...fixed, accept: 'text/event-stream' };
      const shown = await credential.headers(identity);
      const answer = await listen(joined(always, shown, own), signal);
      if (answer.status !== 401 || !credential.renew) return answer;
      const renewed = await credential.renew(identity, shown);
      return renewed ? await listen(joined(always, renewed, own), signal) : answer;
    },

    async delete(identity, own) {
      const headers = joined(fixed, await credential.headers(identity), own);
      await http.request(url, { method: 'DELETE', headers });
    },
  };
}

/** Later ones win. Loops are several times as fast as spreading for what is done with each call. */
function joined(always: Headers, credential: Headers, own: Headers): Headers {
  const all: Record<string, string> = { ...always };
  for (const name in credential) all[name] = credential[name] ?? '';
  for (const name in own) all[name] = own[name] ?? '';
  return all;
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
