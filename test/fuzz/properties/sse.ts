import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import fc from 'fast-check';
import { SallyError } from '../../../src/base/index.ts';
import { Outlet } from '../../../src/gateway/listener/outlet.ts';
import { type Event, readEvents } from '../../../src/mcp/sse.ts';
import type { Property } from './property.ts';

const line = fc
  .oneof(fc.string({ maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 10 }))
  .map((text) => text.replaceAll(/[\r\n\0]/g, '').replace(/^\ufeff/, ''));
const end = fc.constantFrom('\n', '\r\n', '\r');
const noise = fc.constantFrom(': comment', ':', 'retry: 5', 'retry: x', 'unknown: field', 'nofield');

interface Sent {
  readonly text: string;
  readonly data: string;
}

/** One event as a server might write it, and the data a reader must find. */
const event: fc.Arbitrary<Sent> = fc
  .tuple(fc.array(line, { minLength: 1, maxLength: 4 }), fc.array(noise, { maxLength: 3 }), end, fc.boolean())
  .map(([lines, others, newline, spaced]) => ({
    data: lines.join('\n'),
    // A space behind the colon belongs to the field, so a line that starts with one needs it.
    text: `${[...others, ...lines.map((text) => `data:${spaced || text.startsWith(' ') ? ' ' : ''}${text}`)].join(newline)}${newline}${newline}`,
  }));

async function read(bytes: Uint8Array, cuts: readonly number[]): Promise<Event[]> {
  async function* chunks(): AsyncGenerator<Uint8Array> {
    const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
    for (let index = 1; index < places.length; index++) yield bytes.subarray(places[index - 1], places[index]);
  }
  const events: Event[] = [];
  for await (const found of readEvents(chunks())) events.push(found);
  return events;
}

const cuts = fc.array(fc.nat(), { maxLength: 20 });

/** An answer to an HTTP request that keeps what is written to it. */
function paper(): { readonly response: ServerResponse; text(): string } {
  let text = '';
  const response = {
    destroyed: false,
    writableEnded: false,
    writableLength: 0,
    on() {},
    writeHead: () => response,
    flushHeaders() {},
    end() {},
    write(chunk: string) {
      text += chunk;
    },
  };
  return { response: response as unknown as ServerResponse, text: () => text };
}

export const sse: readonly Property[] = [
  {
    says: 'what we write as events is read as the same events',
    runs: 300,
    make: () =>
      fc.asyncProperty(fc.array(fc.tuple(fc.json(), fc.nat()), { maxLength: 6 }), cuts, async (messages, places) => {
        const { response, text } = paper();
        const outlet = new Outlet(response);
        for (const [data, number] of messages) outlet.event(data, { id: `1-${number}` });
        outlet.end();
        const found = await read(new TextEncoder().encode(text()), places);
        assert.deepEqual(
          found.map(({ id, data }) => [data, id]),
          messages.map(([data, number]) => [data, `1-${number}`]),
        );
      }),
  },
  {
    says: 'the data of every event is found, in order, however the bytes are cut',
    runs: 500,
    make: () =>
      fc.asyncProperty(fc.array(event, { maxLength: 6 }), cuts, async (events, places) => {
        const bytes = new TextEncoder().encode(events.map(({ text }) => text).join(''));
        // A stream that ends with a lone CR may still be followed by its LF; one more line settles it.
        const whole = Buffer.concat([bytes, Buffer.from(':\n')]);
        const found = await read(whole, places);
        assert.deepEqual(
          found.map(({ data }) => data),
          events.map(({ data }) => data),
        );
      }),
  },
  {
    says: 'any bytes at all give events or a refusal, and the cutting changes nothing',
    runs: 500,
    make: () =>
      fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), cuts, async (bytes, places) => {
        const attempt = async (at: readonly number[]): Promise<unknown> => {
          try {
            return await read(bytes, at);
          } catch (error) {
            assert(error instanceof SallyError, `threw ${String(error)}`);
            return error.code;
          }
        };
        assert.deepEqual(await attempt(places), await attempt([]));
      }),
  },
];
