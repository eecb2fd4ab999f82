import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLineReader } from './lines.ts';

function read(chunks: readonly Buffer[], limit = 1_000): { lines: string[]; overflows: string[] } {
  const lines: string[] = [];
  const overflows: string[] = [];
  const reader = createLineReader({
    limit,
    onLine: (line) => lines.push(line),
    onOverflow: (head) => overflows.push(head.toString()),
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return { lines, overflows };
}

/** Cuts bytes at the given places, in whatever order they come. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

describe('the line reader', () => {
  it('finds several lines in one chunk and one line in several chunks', () => {
    expect(read(['one\ntwo\nth', 're', 'e\n'].map((text) => Buffer.from(text))).lines).toEqual(['one', 'two', 'three']);
  });

  it('decodes a character that two chunks share', () => {
    const bytes = Buffer.from('a🙂ü\n');
    const bytewise = [...bytes].map((byte) => Buffer.from([byte]));
    expect(read(bytewise).lines).toEqual(['a🙂ü']);
  });

  it('takes a carriage return before the newline as part of the line end, wherever the chunks are cut', () => {
    expect(read(['a\r', '\nb\r\n', '\r\n', 'c\rd\n'].map((text) => Buffer.from(text))).lines).toEqual([
      'a',
      'b',
      '',
      'c\rd',
    ]);
  });

  it('keeps every other character as it came', () => {
    const line = '{"text":"\u00a0\u200d\u2028\ufeff\u0007"}';
    expect(read([Buffer.from(`${line}\n`)]).lines).toEqual([line]);
  });

  it('gives out the last line without a newline at the end of the stream', () => {
    expect(read([Buffer.from('one\ntw'), Buffer.from('o')]).lines).toEqual(['one', 'two']);
  });

  it('reports a line over the limit once, skips its rest and goes on behind it', () => {
    const { lines, overflows } = read(
      [Buffer.from('short\n01234567'), Buffer.from('89'), Buffer.from('ab\nnext\n')],
      8,
    );
    expect(overflows).toEqual(['01234567']);
    expect(lines).toEqual(['short', 'next']);
  });

  it('refuses a line over the limit that came whole in one chunk', () => {
    expect(read([Buffer.from('123456789\n12345678\n')], 8)).toEqual({ lines: ['12345678'], overflows: ['12345678'] });
  });

  it('does not care how the bytes are cut', () => {
    const text = fc
      .array(fc.oneof(fc.string({ unit: 'binary' }), fc.constantFrom('\n', '\r\n', '🙂', '\r')))
      .map((parts) => parts.join(''));
    fc.assert(
      fc.property(text, fc.array(fc.nat()), fc.integer({ min: 1, max: 40 }), (source, places, limit) => {
        const bytes = Buffer.from(source);
        expect(read(cut(bytes, places), limit)).toEqual(read([bytes], limit));
      }),
    );
  });

  it('gives the same lines as a split of the whole text', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'grapheme' }).map((line) => line.replace(/[\r\n]/g, ''))),
        fc.array(fc.nat()),
        (lines, places) => {
          const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
          expect(read(cut(bytes, places)).lines).toEqual(lines);
        },
      ),
    );
  });

  it('takes a line of many chunks in linear time', () => {
    const chunk = Buffer.alloc(64 * 1024, 'x');
    const chunks = [...Array.from({ length: 255 }, () => chunk), Buffer.from('\n')];
    const [line] = read(chunks, 16 * 1024 * 1024).lines;
    expect(line?.length).toBe(255 * chunk.length);
  });
});
