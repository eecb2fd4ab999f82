import type { HttpAnswer, HttpClient } from '../../base/http/index.ts';
import { SallyError, Secret } from '../../base/index.ts';
import { isNotification, isRequest, isResponse, parseMessage, type RpcMessage, readEvents } from '../../mcp/index.ts';
import type { Answer, Credential, Identity } from '../call.ts';
import type { Heard, Link, Talk } from './link.ts';

export interface HttpTarget {
  readonly name: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | Secret>>;
}

export interface HttpLinkParts {
  readonly http: HttpClient;
  readonly credential: Credential;
  readonly heard: Heard;
}

const MAX_ANSWER_BYTES = 64 * 1024 * 1024;

/** A server behind streamable HTTP: each message is a POST, the session header holds the conversation together. */
export function createHttpLink(target: HttpTarget, parts: HttpLinkParts): Link {
  return {
    dial: async () => createTalk(target, parts),
    close: () => parts.http.close(),
  };
}

function createTalk(target: HttpTarget, { http, credential, heard }: HttpLinkParts): Talk {
  const url = new URL(target.url);
  const ended = Promise.withResolvers<SallyError>();
  let session: string | undefined;
  let revision: string | undefined;
  let nextId = 1;

  async function headersFor(identity: Identity, signal: AbortSignal): Promise<Record<string, string>> {
    const fixed = Object.entries(target.headers).map(([name, value]) => [
      name,
      value instanceof Secret ? value.reveal() : value,
    ]);
    return {
      ...Object.fromEntries(fixed),
      ...(await credential(identity, signal)),
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(session === undefined ? {} : { 'mcp-session-id': session }),
      ...(revision === undefined ? {} : { 'mcp-protocol-version': revision }),
    };
  }

  async function post(message: object, identity: Identity, signal: AbortSignal): Promise<HttpAnswer> {
    const headers = await headersFor(identity, signal);
    const answer = await http.request(url, { method: 'POST', headers, body: JSON.stringify(message), signal });
    if (answer.status >= 200 && answer.status < 300) return answer;
    await answer.drop();
    throw refusal(answer.status);
  }

  function refusal(status: number): SallyError {
    if (status === 404 && session !== undefined) {
      // MCP transport rule: 404 means the server forgot the session, and a new one has to be opened.
      const lost = new SallyError('backend.session_lost', `${target.name} forgot our session`);
      ended.resolve(lost);
      return lost;
    }
    if (status === 401 || status === 403) {
      return new SallyError('backend.refused', `${target.name} refused the gateway (HTTP ${status})`, {
        hint: 'it needs a credential: give it an externalAuthConfigRef',
      });
    }
    return new SallyError('backend.protocol', `${target.name} answered HTTP ${status}`);
  }

  return {
    ended: ended.promise,

    async request(method, params, identity, signal) {
      const id = nextId++;
      const answer = await post({ jsonrpc: '2.0', id, method, params }, identity, signal);
      if (method === 'initialize') session = answer.header('mcp-session-id');
      const reply = await readAnswer(answer, id, target.name, heard);
      if (method === 'initialize' && 'result' in reply && typeof reply.result.protocolVersion === 'string') {
        revision = reply.result.protocolVersion;
      }
      return reply;
    },

    async notify(method, params, identity) {
      const answer = await post({ jsonrpc: '2.0', method, params }, identity, AbortSignal.timeout(NOTIFY_TIMEOUT));
      await answer.drop();
    },

    async close() {
      if (session === undefined) return;
      const signal = AbortSignal.timeout(NOTIFY_TIMEOUT);
      const headers = await headersFor({ kind: 'anonymous' }, signal);
      // A courtesy: a server that cannot be told will forget the session by itself.
      await http.request(url, { method: 'DELETE', headers, signal }).then(
        (answer) => answer.drop(),
        () => {},
      );
      session = undefined;
    },
  };
}

const NOTIFY_TIMEOUT = 5_000;

/** The answer with our id, out of a JSON body or an event stream. */
async function readAnswer(answer: HttpAnswer, id: number, name: string, heard: Heard): Promise<Answer> {
  const type = (answer.header('content-type') ?? '').split(';', 1)[0]?.trim().toLowerCase();
  if (type === 'application/json') {
    const found = pick(understand(await answer.text(MAX_ANSWER_BYTES), name), id, heard);
    if (found) return found;
  } else if (type === 'text/event-stream') {
    for await (const data of readEvents(answer.body)) {
      if (data === '') continue; // a priming event: it only carries an id to resume from
      const found = pick(understand(data, name), id, heard);
      if (found) return found;
    }
  } else {
    await answer.drop();
    throw new SallyError(
      'backend.protocol',
      `${name} answered with content type ${type || 'none'}, not JSON or an event stream`,
      {
        hint: 'check that the URL is its MCP endpoint',
      },
    );
  }
  throw new SallyError('backend.protocol', `${name} closed the answer before it was complete`);
}

function understand(text: string, name: string): RpcMessage {
  try {
    return parseMessage(text);
  } catch (cause) {
    throw new SallyError('backend.protocol', `${name} sent something that is not MCP`, { cause });
  }
}

function pick(message: RpcMessage, id: number, heard: Heard): Answer | undefined {
  if (isNotification(message)) heard(message);
  if (isRequest(message) || !isResponse(message)) return undefined;
  if (message.error && (message.id === id || message.id === undefined)) return { error: message.error };
  return message.id === id ? { result: message.result ?? {} } : undefined;
}
