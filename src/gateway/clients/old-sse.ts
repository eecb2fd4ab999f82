import { randomBytes } from 'node:crypto';
import { SallyError } from '../../base/index.ts';
import type { RawParams, RpcMessage } from '../../mcp/index.ts';
import { type Identity, principalOf } from '../call.ts';
import type { Answering, Incoming, Legacy } from './legacy.ts';
import type { Sessions } from './sessions.ts';

/** A client that holds a stream open and posts elsewhere. */
interface OldClient {
  readonly principal: string;
  readonly answers: StreamAnswers;
}

/** The open streams by the id in their address. Like sessions, they outlive a reload. */
export type OldClients = Map<string, OldClient>;

const MAX_CLIENTS = 1_000;

/**
 * The deprecated transport of 2024-11-05 for clients that know no other: one stream for all answers, and an address for
 * messages. Behind it they are clients like the others.
 */
export interface OldSse {
  /** GET /sse */
  open(incoming: Incoming, messagesPath: string): void;
  /** POST /messages?sessionId=… */
  post(incoming: Incoming, id: string | null, message: RpcMessage, raw: RawParams | undefined): Promise<void>;
}

export function createOldSse(legacy: Legacy, sessions: Sessions, clients: OldClients): OldSse {
  function end(id: string, identity: Identity): void {
    const session = clients.get(id)?.answers.session;
    clients.delete(id);
    if (session === undefined) return;
    try {
      sessions.end(sessions.find(session, principalOf(identity)));
    } catch {
      // It ended by itself before its stream did.
    }
  }

  return {
    open({ outlet, identity }, messagesPath) {
      if (clients.size >= MAX_CLIENTS) throw new SallyError('call.too_many', `${MAX_CLIENTS} streams are open`);
      const id = randomBytes(18).toString('base64url');
      clients.set(id, { principal: principalOf(identity), answers: new StreamAnswers(outlet) });
      outlet.onClose(() => end(id, identity));
      outlet.event(`${messagesPath}?sessionId=${id}`, { event: 'endpoint' });
    },

    async post({ outlet, identity }, id, message, raw) {
      const client = id === null ? undefined : clients.get(id);
      if (!client || client.principal !== principalOf(identity))
        throw new SallyError('call.session_unknown', 'there is no such stream');
      outlet.empty(202);
      const { answers } = client;
      const headers = answers.session === undefined ? {} : { 'mcp-session-id': answers.session };
      await legacy.post({ headers, identity, outlet: answers }, message, raw);
    },
  };
}

/** Writes answers as events of the one stream. The HTTP answers to the posts say nothing. */
class StreamAnswers implements Answering {
  readonly streaming = true;
  readonly #outlet: Answering;
  session: string | undefined;

  constructor(outlet: Answering) {
    this.#outlet = outlet;
  }

  get open(): boolean {
    return this.#outlet.open;
  }

  json(_status: number, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): void {
    this.session = headers['mcp-session-id'] ?? this.session;
    this.event(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'));
  }

  event(data: string): void {
    if (data !== '') this.#outlet.event(data, { event: 'message' });
  }

  onClose(listener: () => void): void {
    this.#outlet.onClose(listener);
  }

  stream(): void {}
  empty(): void {}
  end(): void {} // other answers follow on the same stream
}
