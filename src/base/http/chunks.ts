/** How a reader holds back a sender that is faster. */
export interface Flow {
  pause(): void;
  resume(): void;
  /** The reader left before the end. */
  abandon(): void;
}

/** More than this many bytes are not kept for a reader that does not come; the sender has to wait. */
const HIGH_WATER = 256 * 1024;

/** Pushed chunks as something to loop over. Leaving the loop tells the sender to stop. */
export function createChunks(flow: Flow) {
  const queue: Uint8Array[] = [];
  let queued = 0;
  let ended = false;
  let failure: Error | undefined;
  let wake: (() => void) | undefined;
  let paused = false;

  function ring(): void {
    wake?.();
    wake = undefined;
  }

  async function* chunks(): AsyncGenerator<Uint8Array, void, void> {
    try {
      for (;;) {
        const chunk = queue.shift();
        if (chunk) {
          queued -= chunk.byteLength;
          if (paused && queued < HIGH_WATER / 2) {
            paused = false;
            flow.resume();
          }
          yield chunk;
        } else if (failure) {
          throw failure;
        } else if (ended) {
          return;
        } else {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    } finally {
      if (!ended && !failure) flow.abandon();
    }
  }

  return {
    chunks: chunks(),
    push(chunk: Uint8Array): void {
      queue.push(chunk);
      queued += chunk.byteLength;
      if (!paused && queued > HIGH_WATER) {
        paused = true;
        flow.pause();
      }
      ring();
    },
    end(): void {
      ended = true;
      ring();
    },
    fail(error: Error): void {
      failure = error;
      ring();
    },
  };
}
