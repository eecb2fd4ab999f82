import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, SallyError } from '../../base/index.ts';
import {
  encodeCall,
  encodeHeaderValue,
  headerNameOf,
  isAnswerTo,
  isNotification,
  isResponse,
  META,
  MODERN_REVISION,
  metaOf,
  mirroredText,
  type Params,
} from '../../mcp/index.ts';
import { type Answer, type Call, read, type ServerHello, type Told } from '../call.ts';
import { mediaTypeOf, type Poster, readMessages, refusalOf, understand } from './http-talk.ts';
import { OwnCall } from './own-call.ts';
import { answerRounds } from './rounds.ts';
import type { HeaderParamsOf, Opening, Talk } from './talk.ts';
import { forLegacyClient, forModernServer } from './translate.ts';

export interface ModernHttpParts {
  readonly name: string;
  readonly poster: Poster;
  readonly log: Log;
  readonly headerParamsOf: HeaderParamsOf;
}

/** What a request may repeat in its headers, in characters. */
const MAX_NAME = 2_048;
const LISTEN_PAUSE = 1_000;
/** How long we wait for a server to confirm what it will tell us of. */
const ACKNOWLEDGE_WITHIN = 500;

/** A server of the stateless revision over HTTP. There is no conversation to open: each request says everything. */
export function createModernHttp(hello: ServerHello, opening: Opening, parts: ModernHttpParts): Talk {
  const { name, poster, log } = parts;
  const closing = new AbortController();
  const { promise: ended } = Promise.withResolvers<SallyError>();
  // Whoever the conversation is for comes back with newer tokens, and the older ones end.
  let { identity } = opening;
  let listening: { stop(): void; readonly acknowledged: Promise<void> } | undefined;
  if (opening.home) listening = listen([]);

  async function send(call: Call, method: string, params: Params): Promise<Answer> {
    identity = call.identity;
    const sent = forModernServer(call, params);
    const answer = await poster.post(
      encodeCall(call.id, method, sent, call),
      call.identity,
      headersOf(call, method, params, parts),
      call,
    );
    if (answer.stream) return await readStream(answer.stream, call);
    if (mediaTypeOf(answer) !== 'application/json') throw refusalOf(name, answer.status);
    const text = answer.bytes.toString('utf8');
    if (answer.status >= 300) return refused(understandAnswer(answer.status, text, call), answer.status);
    return isAnswerTo(text, call.id) ? { unread: text, id: call.id } : understandAnswer(answer.status, text, call);
  }

  async function sendInRounds(call: Call, method: string, params: Params): Promise<Answer> {
    const ask = async (next: Params): Promise<Told> => read(await send(call, method, next));
    return forLegacyClient(await answerRounds(call, params, ask));
  }

  function understandAnswer(status: number, text: string, call: Call): Told {
    const message = understand(text, name);
    if (!isResponse(message)) throw refusalOf(name, status);
    // An error about a message nobody could read has no id.
    if (message.id !== call.id && !(message.error && message.id === undefined)) {
      throw new SallyError('backend.protocol', `${name} answered another request than it was asked`);
    }
    return message.error ? { error: message.error } : { result: message.result ?? {} };
  }

  /** Errors that come with a status of their own. Two of them complain about our hop, not about the caller's. */
  function refused(told: Told, status: number): Told {
    if (!('error' in told)) throw refusalOf(name, status);
    if (told.error.code === -32020 || told.error.code === -32022) {
      throw new SallyError('backend.protocol', `${name} did not understand the gateway: ${told.error.message}`);
    }
    return told;
  }

  async function readStream(stream: AsyncIterable<Uint8Array>, call: Call): Promise<Answer> {
    for await (const { message } of readMessages(stream, name)) {
      if (!message) continue;
      if (isNotification(message)) call.tell(message.method, message.params ?? {});
      else if (isResponse(message) && (message.id === call.id || message.id === undefined)) {
        return message.error ? { error: message.error } : { result: message.result ?? {} };
      }
    }
    throw call.cancelled ?? new SallyError('backend.protocol', `${name} closed the answer before it was complete`);
  }

  /** One stream that tells us of changes. It is opened anew when it ends, and when other resources are to be watched. */
  function listen(uris: readonly string[]) {
    const stopping = new AbortController();
    const signal = AbortSignal.any([closing.signal, stopping.signal]);
    const acknowledged = Promise.withResolvers<void>();
    void keepListening(uris, signal, acknowledged.resolve);
    return { stop: () => stopping.abort(), acknowledged: acknowledged.promise };
  }

  async function keepListening(uris: readonly string[], signal: AbortSignal, acknowledge: () => void): Promise<void> {
    const notifications = {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
      ...(uris.length > 0 ? { resourceSubscriptions: uris } : {}),
    };
    for (let opened = 0; !signal.aborted; opened++) {
      try {
        const call = new OwnCall('subscriptions/listen', { notifications }, identity, opening.client, signal);
        const sent = forModernServer(call, call.params);
        const answer = await poster.post(
          encodeCall(call.id, call.method, sent),
          call.identity,
          headersOf(call, call.method, sent, parts),
          call,
        );
        if (!answer.stream || answer.status >= 300) return acknowledge();
        for await (const { message } of readMessages(answer.stream, name)) {
          if (signal.aborted) return;
          if (!message || !isNotification(message)) continue;
          if (message.method !== 'notifications/subscriptions/acknowledged')
            opening.heard(message.method, withoutSubscription(message.params ?? {}));
          else {
            acknowledge();
            // Something may have changed while nobody listened.
            if (opened > 0)
              for (const kind of ['tools', 'prompts', 'resources'])
                opening.heard(`notifications/${kind}/list_changed`, {});
          }
        }
      } catch (error) {
        if (!signal.aborted) log.debug('the stream of a server broke off', { server: name, error });
      }
      await sleep(LISTEN_PAUSE, undefined, { signal, ref: false }).catch(() => {});
    }
  }

  return {
    hello,
    ended,
    request: (call, method, params) =>
      call.client.era === 'modern' ? send(call, method, params) : sendInRounds(call, method, params),
    notify() {}, // this revision has no notifications of a client over HTTP
    async subscribe(uris) {
      const next = listen(uris);
      // The new stream is there before the old one goes, so that nothing falls between.
      await Promise.race([next.acknowledged, sleep(ACKNOWLEDGE_WITHIN, undefined, { ref: false })]);
      listening?.stop();
      listening = next;
    },
    async close() {
      closing.abort();
    },
  };
}

/** The headers that repeat the body, made from what we send. The client's own are kept only where no schema explains them. */
function headersOf(
  call: Call,
  method: string,
  params: Params,
  { headerParamsOf }: ModernHttpParts,
): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { ...call.paramHeaders };
  headers['mcp-protocol-version'] = MODERN_REVISION;
  headers['mcp-method'] = encodeHeaderValue(method);
  const name = headerNameOf(method, params);
  // A server cuts the connection over headers that are too long, and would seem to have failed by itself.
  if (method.length + (typeof name === 'string' ? name.length : 0) > MAX_NAME)
    throw new SallyError('call.invalid_params', 'the name in the request is too long');
  if (typeof name === 'string') headers['mcp-name'] = encodeHeaderValue(name);
  if (method === 'tools/call' && typeof name === 'string') {
    for (const { header, path } of headerParamsOf(name)) {
      const text = mirroredText(params, path);
      if (text === undefined) delete headers[`mcp-param-${header.toLowerCase()}`];
      else headers[`mcp-param-${header.toLowerCase()}`] = encodeHeaderValue(text);
    }
  }
  return headers;
}

function withoutSubscription(params: Params): Params {
  const meta = metaOf(params);
  if (!meta || !(META.subscriptionId in meta)) return params;
  const { [META.subscriptionId]: _own, ...rest } = meta;
  return { ...params, _meta: rest };
}
