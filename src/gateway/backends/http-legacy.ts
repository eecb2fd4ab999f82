import { setTimeout as sleep } from 'node:timers/promises';
import type { HttpAnswer } from '../../base/http/index.ts';
import { codeOf, type Log, SallyError } from '../../base/index.ts';
import {
  encodeCall,
  isAnswerTo,
  isNotification,
  isRequest,
  isResponse,
  metaOf,
  type Params,
  type RequestId,
  type RpcMessage,
  withMeta,
} from '../../mcp/index.ts';
import { type Answer, type Call, read, type ServerHello } from '../call.ts';
import { initialize } from './handshake.ts';
import { mediaTypeOf, type Poster, readMessages, refusalOf, understand } from './http-talk.ts';
import { createQuestions } from './questions.ts';
import type { Opening, Talk } from './talk.ts';
import { forLegacyServer, forModernClient } from './translate.ts';

export interface LegacyHttpParts {
  readonly name: string;
  readonly poster: Poster;
  readonly log: Log;
  /** The server takes nothing but POST. */
  readonly postOnly: boolean;
}

/** A stream that breaks off is taken up again this often in a row before the call is given up. */
const MAX_RESUMES = 5;
const DEFAULT_RETRY = 1_000;
const GET_PAUSE = 5_000;

/** Opens a conversation of a stateful revision over streamable HTTP: a session of our own for one client. */
export async function openLegacyHttp(opening: Opening, parts: LegacyHttpParts, signal: AbortSignal): Promise<Talk> {
  const { client, heard } = opening;
  const { name, poster, log, postOnly } = parts;
  const ended = Promise.withResolvers<SallyError>();
  const closing = new AbortController();
  const questions = createQuestions();
  // Whoever the conversation is for comes back with newer tokens, and the older ones end.
  let { identity } = opening;
  let hello: ServerHello | undefined;
  let session: string | undefined;
  let nextId = 1;

  const headers = (): Record<string, string> => ({
    ...(session === undefined ? {} : { 'mcp-session-id': session }),
    ...(hello === undefined ? {} : { 'mcp-protocol-version': hello.revision }),
  });

  function refuse(status: number): SallyError {
    if (status !== 404 || session === undefined) return refusalOf(name, status);
    // MCP transport rule: 404 means the server forgot the session, and a new one has to be opened.
    const lost = new SallyError('backend.session_lost', `${name} forgot our session`);
    ended.resolve(lost);
    return lost;
  }

  function post(text: string): void {
    poster
      .post(text, identity, headers(), undefined)
      .catch((error: unknown) => log.debug('a message did not reach its server', { server: name, error }));
  }

  async function request(call: Call, method: string, params: Params): Promise<Answer> {
    identity = call.identity;
    // The ids of a client that is alone in its session are unique in it, and the answer can go back as it comes.
    const own = !call.client.alone || call.client.key !== client.key;
    const id = own ? nextId++ : call.id;
    const sent = own && metaOf(params)?.progressToken !== undefined ? withMeta(params, { progressToken: id }) : params;
    const forget = call.onCancel((reason) => {
      if (method !== 'initialize')
        post(encodeCall(undefined, 'notifications/cancelled', { requestId: id, reason: reason.message }));
    });
    try {
      const answer = await poster.post(encodeCall(id, method, sent, call), identity, headers(), call);
      if (method === 'initialize' && answer.status < 300) session = textOf(answer.headers['mcp-session-id']);
      return await readAnswer(answer, id, call, own);
    } finally {
      forget();
    }
  }

  async function readAnswer(answer: HttpAnswer, id: RequestId, call: Call, own: boolean): Promise<Answer> {
    if (answer.stream && answer.status < 300) return await readStream(answer, id, call);
    if (mediaTypeOf(answer) !== 'application/json') {
      if (answer.status >= 300) throw refuse(answer.status);
      throw new SallyError('backend.protocol', `${name} answered with content type ${mediaTypeOf(answer) || 'none'}`, {
        hint: 'check that the URL is its MCP endpoint',
      });
    }
    if (answer.status >= 300) throw isForgotten(answer) ? refuse(404) : refuse(answer.status);
    const text = answer.bytes.toString('utf8');
    if (!own && isAnswerTo(text, id)) return { unread: text, id };
    const message = understand(text, name);
    return pick(message, id, call) ?? Promise.reject(incomplete());
  }

  /** Reads a stream up to the answer, and comes back for the rest when the server lets go of it in between. */
  async function readStream(first: HttpAnswer, id: RequestId, call: Call): Promise<Answer> {
    let stream = first.stream;
    let lastEventId: string | undefined;
    let retry = DEFAULT_RETRY;
    for (let resumes = 0; stream && resumes <= MAX_RESUMES; resumes++) {
      try {
        for await (const { event, message } of readMessages(stream, name)) {
          if (call.cancelled) throw call.cancelled;
          lastEventId = event.id ?? lastEventId;
          retry = event.retry ?? retry;
          if (message) resumes = 0;
          const answer = message && pick(message, id, call);
          if (answer) return answer;
        }
      } catch (error) {
        // A connection that was cut is an end like any other, as long as we know where to go on.
        const cut = codeOf(error) === 'fetch.unreachable' && lastEventId !== undefined;
        if (call.cancelled || !cut) throw call.cancelled ?? error;
      }
      if (lastEventId === undefined || postOnly) break;
      const needed = AbortSignal.any([closing.signal, cancelling(call)]);
      await sleep(retry, undefined, { signal: needed }).catch(() => {});
      if (call.cancelled) throw call.cancelled;
      const again = await poster.get(identity, { ...headers(), 'last-event-id': lastEventId }, needed);
      stream = again.status < 300 ? again.stream : undefined;
    }
    throw incomplete();
  }

  function pick(message: RpcMessage, id: RequestId, call: Call): Answer | undefined {
    if (isResponse(message)) {
      if (message.id !== id && message.id !== undefined) return undefined;
      return message.error ? { error: message.error } : { result: message.result ?? {} };
    }
    hear(message, call);
    return undefined;
  }

  /** What comes on the stream of a call belongs to that call; what comes on the other stream belongs to none. */
  function hear(message: RpcMessage, call: Call | undefined): void {
    if (isRequest(message)) {
      const { id, method, params = {} } = message;
      void questions
        .answer(id, method, params, call)
        .then((told) => post(JSON.stringify({ jsonrpc: '2.0', id, ...told })));
    } else if (isNotification(message)) {
      const { method, params = {} } = message;
      if (method === 'notifications/cancelled') questions.withdraw(params.requestId);
      else if (call && (method === 'notifications/progress' || method === 'notifications/message'))
        call.tell(method, withOwnToken(method, params, call));
      else heard(method, params);
    }
  }

  function incomplete(): SallyError {
    return new SallyError('backend.protocol', `${name} closed the answer before it was complete`);
  }

  /** The stream on which a server speaks unasked. Servers need not offer it; those that do may close it and we come back. */
  async function keepListening(): Promise<void> {
    let lastEventId: string | undefined;
    while (!closing.signal.aborted) {
      try {
        const resume = lastEventId === undefined ? {} : { 'last-event-id': lastEventId };
        const answer = await poster.get(identity, { ...headers(), ...resume }, closing.signal);
        if (!answer.stream || answer.status >= 300) return;
        for await (const { event, message } of readMessages(answer.stream, name)) {
          lastEventId = event.id ?? lastEventId;
          if (message) hear(message, undefined);
        }
      } catch (error) {
        log.debug('the stream of a server broke off', { server: name, error });
      }
      await sleep(GET_PAUSE, undefined, { signal: closing.signal, ref: false }).catch(() => {});
    }
  }

  hello = await initialize(name, request, client, identity, signal);
  await poster.post(encodeCall(undefined, 'notifications/initialized', {}), identity, headers(), undefined);
  if (opening.home && !postOnly) void keepListening();

  return {
    hello,
    ended: ended.promise,
    async request(call, method, params) {
      const answer = await request(call, method, forLegacyServer(call, params));
      return call.client.era === 'modern' ? forModernClient(read(answer), method) : answer;
    },
    notify: (method, params) => post(encodeCall(undefined, method, params)),
    async close() {
      closing.abort();
      // A courtesy: a server that cannot be told will forget the session by itself.
      if (session !== undefined && !postOnly) await poster.delete(identity, headers()).catch(() => {});
      session = undefined;
    },
  };
}

/** Servers that do not know a session any more should say 404; many say 400 with this code instead. */
function isForgotten({ status, bytes }: HttpAnswer): boolean {
  return status === 400 && bytes.includes('-32000');
}

function withOwnToken(method: string, params: Params, call: Call): Params {
  if (method !== 'notifications/progress') return params;
  return { ...params, progressToken: metaOf(call.params)?.progressToken };
}

function textOf(header: string | string[] | undefined): string | undefined {
  return typeof header === 'string' ? header : undefined;
}

/** Dear, but a stream that breaks off is seldom. */
function cancelling(call: Call): AbortSignal {
  const cancel = new AbortController();
  call.onCancel((reason) => cancel.abort(reason));
  return cancel.signal;
}
