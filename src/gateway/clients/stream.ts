/** What a stream writes to: an HTTP answer, as the listener makes it. */
export interface Sink {
  readonly open: boolean;
  stream(headers?: Readonly<Record<string, string>>): void;
  event(data: string, fields?: { readonly id?: string; readonly event?: string; readonly retry?: number }): void;
  end(): void;
  onClose(listener: () => void): void;
}

interface Kept {
  readonly sequence: number;
  readonly data: string;
}

/** What one stream keeps for a client that comes back. Older events are dropped first. */
const MAX_KEPT = 100;
const MAX_KEPT_LENGTH = 1024 * 1024;
/** How long a client may wait before it comes back to a stream we closed, in milliseconds. */
const RETRY = 1_000;

/** An event stream of a session that survives its connection: a client that lost it comes back for what it missed. */
export class Stream {
  readonly number: number;
  #sink: Sink | undefined;
  #kept: Kept[] = [];
  #keptLength = 0;
  #sequence = 0;
  #over = false;

  constructor(number: number) {
    this.number = number;
  }

  /** The last message was written. */
  get over(): boolean {
    return this.#over;
  }

  get attached(): boolean {
    return this.#sink?.open ?? false;
  }

  /** Connects a reader. `after` is the last event it saw; a new reader gets an empty event first, to have an id to come back with. */
  attach(sink: Sink, after: number | undefined): void {
    this.#sink?.end();
    this.#sink = sink;
    sink.stream();
    sink.onClose(() => {
      if (this.#sink === sink) this.#sink = undefined;
    });
    if (after === undefined) {
      this.#sequence += 1;
      sink.event('', { id: this.#id(this.#sequence), retry: RETRY });
    }
    for (const { sequence, data } of this.#kept) {
      if (sequence > (after ?? this.#sequence)) sink.event(data, { id: this.#id(sequence) });
    }
    if (this.#over) sink.end();
  }

  write(data: string): void {
    this.#sequence += 1;
    this.#keep({ sequence: this.#sequence, data });
    this.#sink?.event(data, { id: this.#id(this.#sequence) });
  }

  end(): void {
    this.#over = true;
    this.#sink?.end();
  }

  #keep(event: Kept): void {
    this.#kept.push(event);
    this.#keptLength += event.data.length;
    while (this.#kept.length > MAX_KEPT || (this.#keptLength > MAX_KEPT_LENGTH && this.#kept.length > 0)) {
      this.#keptLength -= this.#kept.shift()?.data.length ?? 0;
    }
  }

  #id(sequence: number): string {
    return `${this.number}-${sequence}`;
  }
}

/** The stream and the place in it that a `Last-Event-ID` names. */
export function parseEventId(text: string): { readonly stream: number; readonly sequence: number } | undefined {
  const [, stream, sequence] = /^([0-9]{1,9})-([0-9]{1,9})$/.exec(text) ?? [];
  return stream === undefined || sequence === undefined
    ? undefined
    : { stream: Number(stream), sequence: Number(sequence) };
}
