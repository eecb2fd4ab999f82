import fc from 'fast-check';
import { expect, it } from 'vitest';
import { readEvents } from './sse.ts';

async function read(bytes: Uint8Array, cuts: readonly number[]): Promise<string[]> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const places = [0, ...[...cuts].map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
    for (let index = 1; index < places.length; index++) yield bytes.subarray(places[index - 1], places[index]);
  }
  const events: string[] = [];
  for await (const { data } of readEvents(chunks())) events.push(data);
  return events;
}

const STREAM =
  ': hello\n\nid: 1\ndata:\n\nevent: message\ndata: {"a":"grüße 🎈"}\n\r\ndata: two\r\ndata: lines\r\n\r\nretry: 5\n\ndata: cut off';

it('reads the data of each event, however the bytes are cut', async () => {
  const bytes = new TextEncoder().encode(STREAM);
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), async (cuts) => {
      expect(await read(bytes, cuts)).toEqual(['', '{"a":"grüße 🎈"}', 'two\nlines']);
    }),
  );
});
