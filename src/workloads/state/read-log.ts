import { type FileHandle, open, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const CHUNK = 64 * 1024;
const LOOK_EVERY = 200;
/** More than a file holds before it is put aside. */
const TAIL_BYTES = 16 * 1024 * 1024;

/** The last lines of a log, the newest file that was put aside included. */
export async function tailLog(path: string, lines: number): Promise<string> {
  return lastOf(`${await readAll(`${path}.1`)}${await readAll(path)}`, lines);
}

function lastOf(text: string, lines: number): string {
  const all = text.split('\n');
  const rest = all.pop() ?? ''; // a line that is being written
  const last = lines === 0 ? [] : all.slice(-lines);
  return `${last.map((line) => `${line}\n`).join('')}${rest}`;
}

/**
 * The last lines of a log, and then what is written to it, over the times that the file is put aside. Nothing comes twice and
 * nothing is left out. Ends when it is asked to.
 */
export async function* followLog(path: string, lines: number, stop: AbortSignal): AsyncGenerator<string> {
  let file = await open(path, 'r').catch(() => undefined);
  let position = (await file?.stat())?.size ?? 0;
  let decoder = new TextDecoder(); // a character may come in two pieces
  try {
    yield lastOf(`${await readAll(`${path}.1`)}${await readTail(file, position)}`, lines);
    for (;;) {
      for await (const bytes of readFrom(file, position)) {
        position += bytes.length;
        yield decoder.decode(bytes, { stream: true });
      }
      if (stop.aborted) return;
      if (await isAnother(file, path)) {
        // The rest of the old file was read above; the new one is read from its beginning.
        await file?.close();
        file = await open(path, 'r').catch(() => undefined);
        [position, decoder] = [0, new TextDecoder()];
        continue;
      }
      await sleep(LOOK_EVERY, undefined, { signal: stop }).catch(() => {});
    }
  } finally {
    await file?.close();
  }
}

async function isAnother(file: FileHandle | undefined, path: string): Promise<boolean> {
  const there = await stat(path).catch(() => undefined);
  return there !== undefined && there.ino !== (await file?.stat())?.ino;
}

async function* readFrom(file: FileHandle | undefined, from: number): AsyncGenerator<Uint8Array> {
  if (!file) return;
  const buffer = Buffer.alloc(CHUNK);
  for (let position = from; ; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}

async function readAll(path: string): Promise<string> {
  const file = await open(path, 'r').catch(() => undefined);
  try {
    return await readTail(file, (await file?.stat())?.size ?? 0);
  } finally {
    await file?.close();
  }
}

/** What stands before a position, and no more of it than anybody wants to see. */
async function readTail(file: FileHandle | undefined, end: number): Promise<string> {
  if (!file) return '';
  const length = Math.min(end, TAIL_BYTES);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, end - length);
  return buffer.toString('utf8', 0, bytesRead);
}
