import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createDemultiplexer } from './demultiplex.ts';

function frame(output: number, bytes: Uint8Array): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt8(output);
  header.writeUInt32BE(bytes.length, 4);
  return Buffer.concat([header, bytes]);
}

it('gives each output its bytes, however the connection cuts them', () => {
  const pieces = fc.array(fc.record({ output: fc.constantFrom(1, 2), bytes: fc.uint8Array({ maxLength: 40 }) }));
  fc.assert(
    fc.property(pieces, fc.array(fc.integer({ min: 1, max: 30 })), (sent, cuts) => {
      const heard: Record<'stdout' | 'stderr', Buffer[]> = { stdout: [], stderr: [] };
      const take = createDemultiplexer({
        stdout: (chunk) => heard.stdout.push(chunk),
        stderr: (chunk) => heard.stderr.push(chunk),
      });
      let wire = Buffer.concat(sent.map(({ output, bytes }) => frame(output, bytes)));
      for (const cut of [...cuts, wire.length]) {
        take(wire.subarray(0, cut));
        wire = wire.subarray(cut);
      }
      for (const [name, output] of [['stdout', 1] as const, ['stderr', 2] as const]) {
        const expected = Buffer.concat(sent.filter((piece) => piece.output === output).map(({ bytes }) => bytes));
        expect(Buffer.concat(heard[name]).equals(expected)).toBe(true);
      }
    }),
  );
});
