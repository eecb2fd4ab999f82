import type { IncomingHttpHeaders } from 'node:http';
import { SallyError } from '../../base/index.ts';
import {
  agreeOnRevision,
  isLegacyRevision,
  isLoggingLevel,
  isObject,
  isRequest,
  isResponse,
  LEGACY_REVISIONS,
  MODERN_REVISION,
  type Params,
  type RawParams,
  type RpcMessage,
  type RpcRequest,
} from '../../mcp/index.ts';
import { type Answer, type Client, type Identity, ownerOf, principalOf } from '../call.ts';
import type { Hubs } from './hub.ts';
import type { KeptSessions, SessionRow } from './kept-sessions.ts';
import { LegacyChannel } from './legacy-channel.ts';
import { LiveCall } from './live-call.ts';
import { failure, needsStatus, writeAnswer, writeEvent } from './reply.ts';
import type { Session } from './session.ts';
import type { Sink } from './stream.ts';

/** The answer to an HTTP request, as the listener makes it. */
export interface Answering extends Sink {
  readonly streaming: boolean;
  json(status: number, body: string, headers?: Readonly<Record<string, string>>): void;
  empty(status: number, headers?: Readonly<Record<string, string>>): void;
}

export interface Incoming {
  readonly headers: IncomingHttpHeaders;
  readonly identity: Identity;
  readonly outlet: Answering;
}

export interface ClientParts {
  readonly hubs: Hubs;
  readonly sessions: KeptSessions;
}

/** Clients of the stateful revisions: `initialize`, a session, streams that can be resumed, requests in both directions. */
export interface Legacy {
  post(incoming: Incoming, message: RpcMessage, raw: RawParams | undefined): Promise<void>;
  get(incoming: Incoming): Promise<void>;
  delete(incoming: Incoming): Promise<void>;
}

export function createLegacy({ hubs, sessions }: ClientParts): Legacy {
  return {
    async post(incoming, message, raw) {
      checkRevision(incoming.headers);
      if (isRequest(message) && message.method === 'initialize') return await initialize(incoming, message);
      const found = sessionOf(incoming);
      const session = found instanceof Promise ? await found : found;
      if (!isRequest(message)) {
        if (isResponse(message)) session?.answer(message);
        else notice(incoming.identity, session, message.method, message.params ?? {});
        return incoming.outlet.empty(202);
      }
      if (session) return await inSession(incoming, session, message, raw);
      return await withoutSession(incoming, message, raw);
    },

    async get(incoming) {
      const session = await sessionOf(incoming);
      if (!session) throw new SallyError('call.session_required', 'a stream belongs to a session');
      const lastEventId = incoming.headers['last-event-id'];
      session.attach(incoming.outlet, typeof lastEventId === 'string' ? lastEventId : undefined);
    },

    async delete(incoming) {
      const session = await sessionOf(incoming);
      if (!session) throw new SallyError('call.session_required', 'name the session that ends');
      await sessions.end(session);
      incoming.outlet.empty(204);
    },
  };

  function sessionOf({ headers, identity }: Incoming): Session | undefined | Promise<Session> {
    const id = headers['mcp-session-id'];
    if (typeof id !== 'string') return undefined;
    const owner = ownerOf(identity);
    let row: SessionRow | undefined;
    const found = sessions.find(id, principalOf(identity), owner, (adopted) => {
      row = adopted;
    });
    if (found instanceof Promise) return found.then((session) => resume(session, row, identity));
    found.owner = owner; // after a new login the same session goes on, with what that login may use
    return found;
  }

  /** What the client subscribed to at another process is watched from here now. */
  function resume(session: Session, row: SessionRow | undefined, identity: Identity): Session {
    session.owner = ownerOf(identity);
    for (const uri of row?.subscriptions ?? []) {
      session.subscriptions.add(uri);
      hubs
        .of(identity)
        .subscribe(uri)
        .catch(() => session.subscriptions.delete(uri));
    }
    return session;
  }

  async function initialize({ identity, outlet }: Incoming, { id, params = {} }: RpcRequest): Promise<void> {
    const revision = agreeOnRevision(params.protocolVersion);
    const greeting = await hubs.of(identity).greeting();
    const session = await sessions.open({
      principal: principalOf(identity),
      owner: ownerOf(identity),
      revision,
      capabilities: isObject(params.capabilities) ? params.capabilities : {},
      info: isObject(params.clientInfo) ? params.clientInfo : undefined,
    });
    const result = { protocolVersion: revision, ...greeting };
    outlet.json(200, JSON.stringify({ jsonrpc: '2.0', id, result }), { 'mcp-session-id': session.id });
  }

  function notice(identity: Identity, session: Session | undefined, method: string, params: Params): void {
    if (!session) return;
    if (method === 'notifications/cancelled') session.cancel(params.requestId);
    else hubs.of(identity).notice(session, method, params);
  }

  async function inSession(
    { identity, outlet }: Incoming,
    session: Session,
    request: RpcRequest,
    raw: RawParams | undefined,
  ): Promise<void> {
    const call = toCall(request, raw, identity, session);
    const channel = new LegacyChannel(call, session, outlet);
    call.channel = channel;
    session.begin(call);
    let answer: Answer;
    let refusal: unknown;
    try {
      answer = await answerIn(session, call);
    } catch (thrown) {
      answer = failure(thrown);
      if (needsStatus(thrown) && !outlet.streaming && !channel.stream) refusal = thrown;
    }
    session.finish(call);
    channel.done();
    if (refusal !== undefined && !call.cancelled) throw refusal;
    if (call.cancelled) {
      // A cancelled request gets no response; the stream of its POST ends all the same.
      channel.stream?.end();
      if (!channel.stream) outlet.empty(202);
    } else if (channel.stream) {
      channel.stream.write(writeEvent(call.id, answer));
      channel.stream.end();
    } else {
      const { status, body } = writeAnswer(call.id, answer, 'legacy');
      outlet.json(status, body);
    }
  }

  async function answerIn(session: Session, call: LiveCall): Promise<Answer> {
    const { uri, level } = call.params;
    const hub = hubs.of(call.identity);
    switch (call.method) {
      case 'ping':
        return EMPTY;
      case 'logging/setLevel':
        if (!isLoggingLevel(level)) throw new SallyError('call.invalid_params', 'the level is not one of MCP');
        session.logLevel = level;
        await sessions.changed(session);
        return await hub.answer(call);
      case 'resources/subscribe':
        if (typeof uri !== 'string') throw new SallyError('call.invalid_params', 'a URI is needed');
        if (session.subscriptions.size >= MAX_SUBSCRIPTIONS)
          throw new SallyError('call.too_many', 'too many subscriptions in one session');
        if (!session.subscriptions.has(uri)) await hub.subscribe(uri);
        session.subscriptions.add(uri);
        await sessions.changed(session);
        return EMPTY;
      case 'resources/unsubscribe':
        if (typeof uri !== 'string' || !session.subscriptions.delete(uri)) return EMPTY;
        hub.unsubscribe(uri);
        await sessions.changed(session);
        return EMPTY;
      default:
        return await hub.answer(call);
    }
  }

  /** A single request without handshake. It is served, but its client can be told and asked nothing. */
  async function withoutSession(
    { identity, outlet }: Incoming,
    request: RpcRequest,
    raw: RawParams | undefined,
  ): Promise<void> {
    const call = toCall(request, raw, identity, strangerOf(identity));
    outlet.onClose(() => call.cancel('the client went away'));
    let answer: Answer;
    try {
      answer = request.method === 'ping' ? EMPTY : await hubs.of(identity).answer(call);
    } catch (thrown) {
      if (needsStatus(thrown) && !call.cancelled) throw thrown;
      answer = failure(thrown);
    }
    const { status, body } = writeAnswer(call.id, answer, 'legacy');
    outlet.json(status, body);
  }
}

const EMPTY: Answer = { result: {} };
const MAX_SUBSCRIPTIONS = 1_000;

function toCall(
  { id, method, params = {} }: RpcRequest,
  raw: RawParams | undefined,
  identity: Identity,
  client: Client,
): LiveCall {
  return new LiveCall({ id, method, params, raw, identity, client, paramHeaders: undefined });
}

function strangerOf(identity: Identity): Client {
  return {
    era: 'legacy',
    revision: LEGACY_REVISIONS[0],
    capabilities: {},
    info: undefined,
    key: `${principalOf(identity)} `,
    alone: false,
    logLevel: undefined,
  };
}

function checkRevision(headers: IncomingHttpHeaders): void {
  const revision = headers['mcp-protocol-version'];
  if (revision === undefined || isLegacyRevision(revision)) return;
  throw new SallyError(
    'call.unsupported_revision',
    `MCP ${String(revision)} is not spoken here, only ${[MODERN_REVISION, ...LEGACY_REVISIONS].join(', ')}`,
  );
}
