const NEWLINE = 0x0a;
const RETURN = 0x0d;

export interface LineReaderOptions {
  /** The longest line in bytes, without its newline. */
  readonly limit: number;
  readonly onLine: (line: string) => void;
  /** A line is longer than the limit. Gets its first `limit` bytes; the rest of that line is skipped. */
  readonly onOverflow: (head: Buffer) => void;
}

export interface LineReader {
  push(chunk: Buffer): void;
  /** The stream ended: what came after the last newline is a line too. */
  end(): void;
}

/**
 * Bytes become lines, however they were cut into chunks. Every answer of a stdio server passes here: one native search per
 * line, one decoding per line, and a line inside one chunk is never copied. Only whole lines are decoded, so a character
 * that two chunks share needs no care.
 */
export function createLineReader({ limit, onLine, onOverflow }: LineReaderOptions): LineReader {
  /** The pieces of a line whose newline has not come yet. */
  let pieces: Buffer[] = [];
  let pending = 0;
  let skipping = false;

  function keep(piece: Buffer): void {
    if (skipping || piece.length === 0) return;
    pieces.push(piece);
    pending += piece.length;
    if (pending <= limit) return;
    const head = Buffer.concat(pieces, limit);
    forget();
    skipping = true;
    onOverflow(head);
  }

  function forget(): void {
    pieces = [];
    pending = 0;
  }

  function finish(last: Buffer): void {
    keep(last);
    if (!skipping) {
      const line = pieces.length === 1 && pieces[0] ? pieces[0] : Buffer.concat(pieces, pending);
      forget();
      onLine(decode(line, 0, line.length));
    }
    skipping = false;
  }

  return {
    push(chunk) {
      let start = 0;
      for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, start)) {
        if (pending === 0 && !skipping && at - start <= limit) onLine(decode(chunk, start, at));
        else finish(chunk.subarray(start, at));
        start = at + 1;
      }
      if (start < chunk.length) keep(chunk.subarray(start));
    },

    end() {
      if (pending > 0) finish(Buffer.alloc(0));
      skipping = false;
    },
  };
}

/** Programs written for Windows end lines with a carriage return as well. */
function decode(bytes: Buffer, start: number, end: number): string {
  return bytes.toString('utf8', start, end > start && bytes[end - 1] === RETURN ? end - 1 : end);
}
