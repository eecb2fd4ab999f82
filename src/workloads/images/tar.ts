import { Buffer } from 'node:buffer';

/** One thing in an archive. Folders have no content. */
export interface TarEntry {
  readonly path: string;
  readonly content?: Buffer | string;
  readonly mode?: number;
  readonly owner?: number;
}

const BLOCK = 512;
const LONGEST_NAME = 100;

/** A tar archive (POSIX ustar) of a few entries. Times are zero and the order is as given: equal entries make equal bytes. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  return Buffer.concat([...entries.flatMap((entry) => [...blocksOf(entry)]), Buffer.alloc(2 * BLOCK)]);
}

/** The content of the only file in an archive, as an engine gives out a single file. */
export function onlyFileIn(archive: Buffer): Buffer | undefined {
  for (let at = 0; at + BLOCK <= archive.length; ) {
    const header = archive.subarray(at, at + BLOCK);
    if (header[0] === 0) return undefined; // the end
    const size = Number.parseInt(header.toString('latin1', 124, 136).replace(/\0.*$/, ''), 8) || 0;
    const kind = String.fromCharCode(header[156] ?? 0);
    if (kind === '0' || kind === '\0') return archive.subarray(at + BLOCK, at + BLOCK + size);
    at += BLOCK + padded(size);
  }
  return undefined;
}

function* blocksOf({ path, content, mode, owner = 0 }: TarEntry): Generator<Buffer> {
  const bytes = content === undefined ? undefined : Buffer.from(content as Buffer);
  const name = Buffer.from(bytes === undefined ? `${path}/` : path);
  if (name.length > LONGEST_NAME) {
    // POSIX.1-2001: a record in front carries a name of any length, with its own length in it.
    const record = lengthened(`path=${name}\n`);
    yield* [header(Buffer.from('pax'), 'x', record.length, 0o644, 0), padding(record)];
  }
  yield header(
    name.subarray(0, LONGEST_NAME),
    bytes === undefined ? '5' : '0',
    bytes?.length ?? 0,
    mode ?? (bytes ? 0o644 : 0o755),
    owner,
  );
  if (bytes) yield padding(bytes);
}

function lengthened(text: string): Buffer {
  let length = Buffer.byteLength(text) + 2;
  while (Buffer.byteLength(`${length} ${text}`) !== length) length += 1;
  return Buffer.from(`${length} ${text}`);
}

function header(name: Buffer, kind: string, size: number, mode: number, owner: number): Buffer {
  const block = Buffer.alloc(BLOCK);
  const octal = (value: number, at: number, length: number): number =>
    block.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  name.copy(block);
  octal(mode, 100, 8);
  octal(owner, 108, 8);
  octal(owner, 116, 8);
  octal(size, 124, 12);
  octal(0, 136, 12);
  block.write('        ', 148, 'latin1');
  block.write(kind, 156, 'latin1');
  block.write('ustar\x0000', 257, 'latin1');
  const sum = block.reduce((all, byte) => all + byte, 0);
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return block;
}

function padding(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(padded(bytes.length) - bytes.length)]);
}

function padded(size: number): number {
  return Math.ceil(size / BLOCK) * BLOCK;
}
