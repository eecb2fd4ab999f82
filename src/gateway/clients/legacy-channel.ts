import { isAtLeast, isLoudEnough, type Params } from '../../mcp/index.ts';
import type { Question, Told } from '../call.ts';
import { refuseUnasked } from './capabilities.ts';
import type { Channel, LiveCall } from './live-call.ts';
import type { Session } from './session.ts';
import type { Sink, Stream } from './stream.ts';

/** A call that has no answer after this many milliseconds gets a stream. */
const SLOW = 100;

/** How a call of a stateful revision reaches its client: on the answer to its own POST, which becomes a stream when needed. */
export class LegacyChannel implements Channel {
  readonly #call: LiveCall;
  readonly #session: Session;
  readonly #sink: Sink;
  stream: Stream | undefined;
  readonly #slow: NodeJS.Timeout | undefined;

  constructor(call: LiveCall, session: Session, sink: Sink) {
    this.#call = call;
    this.#session = session;
    this.#sink = sink;
    // From 2025-11-25 on a stream can be taken up again; a call that takes a while is worth one before its client loses it.
    if (isAtLeast(session.revision, '2025-11-25')) this.#slow = setTimeout(() => this.#open(), SLOW);
  }

  /** No more will be said. */
  done(): void {
    clearTimeout(this.#slow);
  }

  tell(method: string, params: Params): void {
    const { logLevel } = this.#session;
    if (method === 'notifications/message' && logLevel && !isLoudEnough(params.level, logLevel)) return;
    this.#open().write(JSON.stringify({ jsonrpc: '2.0', method, params }));
  }

  ask({ method, params, withdrawn }: Question): Promise<Told> {
    refuseUnasked(this.#session, method, params);
    const over = new AbortController();
    const stop = this.#call.onCancel((reason) => over.abort(reason));
    const either = AbortSignal.any([over.signal, withdrawn]);
    const stream = this.#open();
    return this.#session.ask((data) => stream.write(data), method, params, either).finally(stop);
  }

  #open(): Stream {
    this.stream ??= this.#session.openStream(this.#sink);
    return this.stream;
  }
}
