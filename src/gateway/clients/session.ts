import { SallyError as Refusal, type SallyError } from '../../base/index.ts';
import { isLoudEnough, type LoggingLevel, type Params, type RequestId, type RpcResponse } from '../../mcp/index.ts';
import type { Client, Told } from '../call.ts';
import type { LiveCall } from './live-call.ts';
import { parseEventId, type Sink, Stream } from './stream.ts';

/** The stream a client opens with GET, for what belongs to no call. */
const UNSOLICITED = 0;
/** Streams of calls that ended, kept for a client that lost the connection at the last moment. */
const MAX_ENDED = 4;

export interface SessionFields {
  readonly id: string;
  readonly principal: string;
  /** The login it is used with. */
  readonly owner: string;
  readonly revision: string;
  readonly capabilities: Params;
  readonly info: Params | undefined;
}

/** One client of a stateful revision, from `initialize` until it leaves. Nothing in it is made before it is needed: most sessions idle. */
export class Session implements Client {
  readonly era = 'legacy';
  readonly alone = true;
  readonly id: string;
  readonly principal: string;
  owner: string;
  readonly revision: string;
  readonly capabilities: Params;
  readonly info: Params | undefined;
  logLevel: LoggingLevel | undefined;
  lastUsed = 0;
  #calls: Map<RequestId, LiveCall> | undefined;
  #asks: Map<RequestId, (answer: Told) => void> | undefined;
  #streams: Map<number, Stream> | undefined;
  #subscriptions: Set<string> | undefined;
  #nextAsk = 1;
  #nextStream = 1;

  constructor(fields: SessionFields) {
    this.id = fields.id;
    this.principal = fields.principal;
    this.owner = fields.owner;
    this.revision = fields.revision;
    this.capabilities = fields.capabilities;
    this.info = fields.info;
  }

  get key(): string {
    return this.id;
  }

  get subscriptions(): Set<string> {
    this.#subscriptions ??= new Set();
    return this.#subscriptions;
  }

  /** Something is going on that must not be cut off for being idle. */
  get busy(): boolean {
    return (this.#calls?.size ?? 0) > 0 || (this.#streams?.get(UNSOLICITED)?.attached ?? false);
  }

  begin(call: LiveCall): void {
    this.#calls ??= new Map();
    this.#calls.set(call.id, call);
  }

  finish(call: LiveCall): void {
    this.#calls?.delete(call.id);
  }

  cancel(requestId: unknown): void {
    if (typeof requestId === 'string' || typeof requestId === 'number')
      this.#calls?.get(requestId)?.cancel('the client cancelled it');
  }

  /** A stream for the answer to a call, which can be resumed. */
  openStream(sink: Sink): Stream {
    this.#streams ??= new Map();
    const stream = new Stream(this.#nextStream++);
    this.#streams.set(stream.number, stream);
    const ended = [...this.#streams.values()].filter(({ over, number }) => over && number !== UNSOLICITED);
    for (const old of ended.slice(0, -MAX_ENDED)) this.#streams.delete(old.number);
    stream.attach(sink, undefined);
    return stream;
  }

  /** GET: a new stream for what belongs to no call, or the rest of one that was interrupted. */
  attach(sink: Sink, lastEventId: string | undefined): void {
    this.#streams ??= new Map();
    const place = lastEventId === undefined ? undefined : parseEventId(lastEventId);
    if (lastEventId !== undefined && (!place || !this.#streams.has(place.stream))) {
      throw new Refusal('call.session_unknown', 'there is no stream to resume under this event id');
    }
    const number = place?.stream ?? UNSOLICITED;
    const stream = this.#streams.get(number) ?? new Stream(number);
    this.#streams.set(number, stream);
    stream.attach(sink, place?.sequence);
  }

  /** Tells the client something outside of any call. Without an open stream nobody is there to hear it. */
  tell(method: string, params: Params): void {
    if (method === 'notifications/message' && this.logLevel && !isLoudEnough(params.level, this.logLevel)) return;
    this.#streams?.get(UNSOLICITED)?.write(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  /** Puts a question to the client and waits for the response it posts. */
  ask(write: (data: string) => void, method: string, params: Params, over: AbortSignal): Promise<Told> {
    this.#asks ??= new Map();
    const asks = this.#asks;
    const id = `sally-${this.#nextAsk++}`;
    return new Promise((resolve, reject) => {
      const giveUp = (): void => {
        if (!asks.delete(id)) return;
        write(JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: id } }));
        reject(over.reason as SallyError);
      };
      if (over.aborted) return reject(over.reason as SallyError);
      over.addEventListener('abort', giveUp, { once: true });
      asks.set(id, (answer) => {
        over.removeEventListener('abort', giveUp);
        resolve(answer);
      });
      write(JSON.stringify({ jsonrpc: '2.0', id, method, params }));
    });
  }

  /** A response of the client. One that answers nothing we asked is ignored: it may be late. */
  answer(response: RpcResponse): void {
    if (response.id === undefined) return;
    const resolve = this.#asks?.get(response.id);
    if (!resolve) return;
    this.#asks?.delete(response.id);
    resolve(response.error ? { error: response.error } : { result: response.result ?? {} });
  }

  end(): void {
    for (const call of this.#calls?.values() ?? []) call.cancel('the session ended');
    for (const stream of this.#streams?.values() ?? []) stream.end();
    this.#asks?.clear();
  }
}
