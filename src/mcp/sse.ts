import { createParser } from 'eventsource-parser';
import { SallyError } from '../base/index.ts';

/** The `data` of each event of a server-sent event stream. Leaving the loop ends the reading. */
export async function* readEvents(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, void> {
  const ready: string[] = [];
  const parser = createParser({
    onEvent: (event) => ready.push(event.data),
    // The parser drops what it cannot read and goes on; only a field that never ends is worth stopping for.
    onError: (error) => {
      if (error.type === 'max-buffer-size-exceeded')
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

const MAX_EVENT_BYTES = 64 * 1024 * 1024;
