import { createParser } from 'eventsource-parser';
import { SallyError } from '../base/index.ts';

export interface Event {
  readonly data: string;
  readonly event: string | undefined;
  readonly id: string | undefined;
  /** What the server last asked us to wait before coming back, in milliseconds. */
  readonly retry: number | undefined;
}

const MAX_EVENT_BYTES = 64 * 1024 * 1024;

/** The events of a server-sent event stream. Leaving the loop ends the reading. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Event, void, void> {
  const ready: Event[] = [];
  let retry: number | undefined;
  const parser = createParser({
    onEvent: ({ data, event, id }) => ready.push({ data, event, id, retry }),
    onRetry: (milliseconds) => {
      retry = milliseconds;
    },
    // The parser drops what it cannot read and goes on; only a field that never ends is worth stopping for.
    onError: (error) => {
      if (error.type !== 'max-buffer-size-exceeded') return;
      throw new SallyError('backend.protocol', 'an event of the stream is too large');
    },
    maxBufferSize: MAX_EVENT_BYTES,
  });
  const decoder = new TextDecoder();
  for await (const chunk of chunks) {
    parser.feed(decoder.decode(chunk, { stream: true }));
    yield* ready.splice(0);
  }
}
