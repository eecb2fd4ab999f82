import assert from 'node:assert/strict';
import fc from 'fast-check';
import { parseEventId, type Sink, Stream } from '../../../src/gateway/clients/stream.ts';
import type { Property } from './property.ts';

interface Got {
  readonly id: string | undefined;
  readonly data: string;
}

/** One connection. Bytes that were written when it broke may or may not have arrived: `lost` says how many did not. */
class Connection implements Sink {
  readonly got: Got[] = [];
  open = true;
  #closing: (() => void)[] = [];
  stream(): void {}
  event(data: string, fields: { readonly id?: string } = {}): void {
    if (this.open) this.got.push({ id: fields.id, data });
  }
  end(): void {
    this.#close();
  }
  onClose(listener: () => void): void {
    this.#closing.push(listener);
  }
  drop(lost: number): void {
    if (this.open) this.got.splice(Math.max(0, this.got.length - lost));
    this.#close();
  }
  #close(): void {
    this.open = false;
    for (const listener of this.#closing.splice(0)) listener();
  }
}

type Step = { readonly do: 'write' } | { readonly do: 'drop'; readonly lost: number } | { readonly do: 'attach' };

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Step>({ do: 'write' }) },
    fc.nat({ max: 3 }).map((lost): Step => ({ do: 'drop', lost })),
    fc.constant<Step>({ do: 'attach' }),
  ),
  { maxLength: 60 },
);

export const stream: readonly Property[] = [
  {
    says: 'a client that comes back with the last event it saw gets every event once, in order',
    runs: 1_000,
    make: () =>
      fc.property(steps, fc.boolean(), (plan, endsWithin) => {
        const events = new Stream(3);
        let connection = new Connection();
        events.attach(connection, undefined);
        const seen: Got[] = [];
        let lastId: string | undefined;
        let written = 0;

        const collect = (): void => {
          for (const got of connection.got.splice(0)) {
            lastId = got.id ?? lastId;
            if (got.data !== '') seen.push(got);
          }
        };
        const resume = (): void => {
          collect();
          connection = new Connection();
          // A client that never saw an id has nothing to come back with, and starts anew.
          events.attach(connection, lastId === undefined ? undefined : parseEventId(lastId)?.sequence);
        };

        let anchored = true;
        for (const step of plan) {
          if (step.do === 'write') events.write(`event ${++written}`);
          else if (step.do === 'attach') resume();
          else {
            connection.drop(step.lost);
            collect();
            if (lastId === undefined) anchored = false;
          }
        }
        if (endsWithin) events.end();
        resume();
        if (!endsWithin) events.end();
        collect();

        assert.equal(connection.open, false, 'the stream ended');
        const ids = seen.map(({ id }) => parseEventId(id ?? '')?.sequence ?? -1);
        assert(
          ids.every((id, index) => index === 0 || id > (ids[index - 1] ?? 0)),
          'ids go up',
        );
        const texts = seen.map(({ data }) => data);
        const all = Array.from({ length: written }, (_, index) => `event ${index + 1}`);
        // Who lost even the first empty event missed what came before it connected again, and nothing after.
        if (anchored) assert.deepEqual(texts, all);
        else assert.deepEqual(texts, all.slice(all.length - texts.length));
      }),
  },
  {
    says: 'what is kept for a client that is away has a limit',
    runs: 50,
    make: () =>
      fc.property(fc.integer({ min: 1, max: 400 }), fc.integer({ min: 1, max: 100_000 }), (count, length) => {
        const events = new Stream(1);
        const data = 'x'.repeat(length);
        for (let index = 0; index < count; index++) events.write(data);
        const connection = new Connection();
        events.attach(connection, 0);
        assert(connection.got.length <= 100);
        assert(connection.got.length * length <= 1024 * 1024);
      }),
  },
  {
    says: 'an event id is one of ours or none, and never a number that was not written',
    runs: 1_000,
    make: () =>
      fc.property(
        fc.oneof(
          fc.string(),
          fc.tuple(fc.nat(), fc.nat()).map(([a, b]) => `${a}-${b}`),
        ),
        (text) => {
          const place = parseEventId(text);
          if (place) assert(Number.isSafeInteger(place.stream) && Number.isSafeInteger(place.sequence));
        },
      ),
  },
];
