import type { Duplex, Readable, Writable } from 'node:stream';

/** Many streams over one pair of pipes. */
export interface Mux {
  /** A new stream to the other side, which hears the purpose. */
  open(purpose: string): Duplex;
  /** A word to the other side that belongs to no stream. */
  note(text: string): void;
  /** Ends every stream. */
  close(): void;
}

export interface MuxOptions {
  /** Both sides number their streams; one takes the odd numbers, the other one the even ones. */
  readonly odd: boolean;
  readonly onOpen: (purpose: string, stream: Duplex) => void;
  readonly onNote: (text: string) => void;
  /** The other side is gone, or breaks the rules. */
  readonly onEnd: (error: Error | undefined) => void;
}

/**
 * The far end of this runs in a container, as the text of this very function, so it uses nothing from outside its body. The near
 * end believes the far end nothing: sizes, numbers and credits are checked, and what breaks a rule ends everything.
 *
 * A frame is a kind (1 byte), the number of a stream (4) and a length (4), then so many bytes. Nobody sends more on a stream than
 * the other side gave credit for, so a slow reader makes its writer wait and memory stays bounded.
 */
export function createMux(input: Readable, output: Writable, options: MuxOptions): Mux {
  const { Duplex: DuplexStream } = process.getBuiltinModule('node:stream');
  const OPEN = 1;
  const DATA = 2;
  const END = 3;
  const RESET = 4;
  const CREDIT = 5;
  const NOTE = 6;
  const HEADER = 9;
  const WINDOW = 256 * 1024;
  const LONGEST = 64 * 1024;
  const MOST_STREAMS = 512;

  interface Stream {
    readonly duplex: Duplex;
    take(chunk: Buffer): void;
    endOfInput(): void;
    moreCredit(bytes: number): void;
  }

  const streams = new Map<number, Stream>();
  let nextId = options.odd ? 1 : 2;
  let over = false;
  let waiting: Buffer = Buffer.alloc(0);
  let isReading = false;

  function send(kind: number, id: number, payload: Buffer): void {
    if (over) return;
    const frame = Buffer.allocUnsafe(HEADER + payload.length);
    frame.writeUInt8(kind, 0);
    frame.writeUInt32BE(id, 1);
    frame.writeUInt32BE(payload.length, 5);
    payload.copy(frame, HEADER);
    output.write(frame);
  }

  function number(value: number): Buffer {
    const bytes = Buffer.allocUnsafe(4);
    bytes.writeUInt32BE(value);
    return bytes;
  }

  function createStream(id: number): Stream {
    let credit = WINDOW;
    /** What the other side may still send, and what was read here since it was last told. */
    let allowed = WINDOW;
    let read = 0;
    let unsent: { chunk: Buffer; done: (error?: Error | null) => void } | undefined;
    let inputOver = false;
    let outputOver = false;

    function flush(): void {
      while (unsent && credit > 0) {
        const { chunk, done } = unsent;
        const piece = chunk.subarray(0, Math.min(credit, LONGEST));
        const isLast = piece.length === chunk.length;
        // All is put down before anything is sent: the answer may come at once.
        credit -= piece.length;
        unsent = isLast ? undefined : { chunk: chunk.subarray(piece.length), done };
        send(DATA, id, piece);
        if (isLast) done();
      }
    }

    const duplex = new DuplexStream({
      highWaterMark: WINDOW,
      write(chunk: Buffer, _encoding, done) {
        unsent = { chunk, done };
        flush();
      },
      final(done) {
        outputOver = true;
        send(END, id, Buffer.alloc(0));
        done();
      },
      read() {
        if (read === 0) return;
        const bytes = read;
        allowed += bytes;
        read = 0;
        send(CREDIT, id, number(bytes));
      },
      destroy(error, done) {
        if (streams.delete(id) && !(inputOver && outputOver)) send(RESET, id, Buffer.alloc(0));
        done(error);
      },
    });
    duplex.on('error', () => {}); // whoever uses it hears of its end
    const stream: Stream = {
      duplex,
      take(chunk) {
        allowed -= chunk.length;
        read += chunk.length;
        if (allowed < 0 || inputOver) fail('a stream sent more than it may');
        else duplex.push(chunk);
      },
      endOfInput() {
        inputOver = true;
        duplex.push(null);
      },
      moreCredit(bytes) {
        credit += bytes;
        if (credit > WINDOW) fail('a stream was given more credit than there is');
        else flush();
      },
    };
    streams.set(id, stream);
    return stream;
  }

  function accept(id: number, purpose: string): void {
    const isTheirs = id !== 0 && id % 2 === (options.odd ? 0 : 1);
    if (streams.has(id) || !isTheirs) fail('a stream was opened that cannot be');
    else if (streams.size >= MOST_STREAMS) send(RESET, id, Buffer.alloc(0));
    else options.onOpen(purpose, createStream(id).duplex);
  }

  function handle(kind: number, id: number, payload: Buffer): void {
    const stream = streams.get(id);
    switch (kind) {
      case OPEN:
        accept(id, payload.toString('utf8'));
        break;
      case DATA:
        stream?.take(payload);
        break;
      case END:
        stream?.endOfInput();
        break;
      case RESET:
        stream?.duplex.destroy();
        break;
      case CREDIT:
        if (payload.length === 4) stream?.moreCredit(payload.readUInt32BE(0));
        else fail('a credit cannot be read');
        break;
      case NOTE:
        options.onNote(payload.toString('utf8'));
        break;
      default:
        fail('a frame is of no known kind');
    }
  }

  function finish(error: Error | undefined): void {
    if (over) return;
    over = true;
    for (const { duplex } of [...streams.values()]) duplex.destroy();
    streams.clear();
    waiting = Buffer.alloc(0);
    options.onEnd(error);
  }

  function fail(why: string): void {
    finish(new Error(why));
  }

  input.on('data', (chunk: Buffer) => {
    if (over) return;
    // At most one frame waits, and frames are short: what is copied here stays small.
    waiting = waiting.length === 0 ? chunk : Buffer.concat([waiting, chunk]);
    if (isReading) return;
    isReading = true;
    while (!over && waiting.length >= HEADER) {
      const length = waiting.readUInt32BE(5);
      if (length > LONGEST) fail('a frame is too long');
      if (over || waiting.length < HEADER + length) break;
      const frame = waiting.subarray(0, HEADER + length);
      waiting = waiting.subarray(HEADER + length);
      handle(frame.readUInt8(0), frame.readUInt32BE(1), frame.subarray(HEADER));
    }
    isReading = false;
  });
  input.on('end', () => finish(undefined));
  input.on('error', (error) => finish(error));
  output.on('error', (error) => finish(error));

  return {
    open(purpose) {
      const id = nextId;
      nextId += 2;
      send(OPEN, id, Buffer.from(purpose));
      const { duplex } = createStream(id);
      if (over) duplex.destroy();
      return duplex;
    },
    note: (text) => send(NOTE, 0, Buffer.from(text)),
    close: () => finish(undefined),
  };
}
