import { PassThrough } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { createMux, type MuxOptions } from './mux.ts';

function pair(near: Partial<MuxOptions> = {}, far: Partial<MuxOptions> = {}) {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const ends: (Error | undefined)[] = [];
  const common = { onOpen() {}, onNote() {}, onEnd: (error: Error | undefined) => ends.push(error) };
  return {
    ends,
    there,
    back,
    near: createMux(back, there, { odd: true, ...common, ...near }),
    far: createMux(there, back, { odd: false, ...common, ...far }),
  };
}

function frame(kind: number, id: number, payload: Buffer | string = ''): Buffer {
  const header = Buffer.alloc(9);
  header.writeUInt8(kind);
  header.writeUInt32BE(id, 1);
  header.writeUInt32BE(Buffer.byteLength(payload), 5);
  return Buffer.concat([header, Buffer.from(payload)]);
}

describe('many streams over one pair of pipes', () => {
  it('carry megabytes in both directions, byte for byte, and end one direction at a time', async () => {
    const { near } = pair({}, { onOpen: (_purpose, stream) => stream.pipe(stream) });
    const sent = Buffer.from(Array.from({ length: 3_000_000 }, (_, index) => index % 251));
    const answers = await Promise.all(
      [1, 2, 3].map(async () => {
        const stream = near.open('echo');
        stream.end(sent);
        return await buffer(stream);
      }),
    );
    for (const answer of answers) expect(answer.equals(sent)).toBe(true);
  });

  it('make a writer wait for a reader that does not read', async () => {
    const { near, there } = pair({}, { onOpen() {} });
    let bytes = 0;
    there.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
    });
    near.open('slow').write(Buffer.alloc(5_000_000));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(bytes).toBeLessThan(600_000);
  });

  it('do not stop one another', async () => {
    const { near } = pair({}, { onOpen: (purpose, stream) => void (purpose === 'echo' && stream.pipe(stream)) });
    near.open('stuck').write(Buffer.alloc(5_000_000));
    const stream = near.open('echo');
    stream.end('hello');
    expect((await buffer(stream)).toString()).toBe('hello');
  });

  it('all end with the pipes', async () => {
    const { near, back, ends } = pair();
    const stream = near.open('x');
    back.end();
    await new Promise((resolve) => stream.once('close', resolve));
    expect(ends).toEqual([undefined]);
  });

  it.each([
    ['a frame without end', Buffer.from('02000000017fffffff', 'hex')],
    ['a kind that nobody knows', frame(99, 1)],
    ['the number of a stream of ours', frame(1, 1, 'x')],
    ['the number of no stream', frame(1, 0, 'x')],
    ['a stream twice', Buffer.concat([frame(1, 2, 'x'), frame(1, 2, 'x')])],
    ['a broken credit', Buffer.concat([frame(1, 2, 'x'), frame(5, 2, 'xx')])],
    [
      'endless credit',
      Buffer.concat([frame(1, 2, 'x'), ...Array<Buffer>(9).fill(frame(5, 2, Buffer.from('00040000', 'hex')))]),
    ],
    [
      'more than there is credit for',
      Buffer.concat([frame(1, 2, 'x'), ...Array<Buffer>(9).fill(frame(2, 2, 'x'.repeat(60_000)))]),
    ],
  ])('end when the other side sends %s', async (_, bytes) => {
    const { back, ends } = pair();
    back.write(bytes);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(ends[0]).toBeInstanceOf(Error);
  });
});
