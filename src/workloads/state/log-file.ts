import { appendFile, mkdir, rename, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

export interface LogFileOptions {
  /** A file that has grown to so many bytes is put aside. */
  readonly size?: number;
  /** How many files that were put aside are kept: `NAME.1` is the newest of them. */
  readonly kept?: number;
}

/** Lines that go to a file which never grows without bound. Never throws: a full disk must not end a server. */
export interface LogFile {
  write(line: string): void;
  /** Resolves when everything written so far is in the file. */
  flush(): Promise<void>;
}

const SIZE = 5 * 1024 * 1024;
const KEPT = 2;
/** A server that talks faster than the disk writes loses lines, not our memory. */
const MOST_WAITING = 1024 * 1024;

export function openLogFile(path: string, { size = SIZE, kept = KEPT }: LogFileOptions = {}): LogFile {
  let waiting: string[] = [];
  let waitingLength = 0;
  let lost = 0;
  let length: number | undefined;
  let work: Promise<void> | undefined;

  async function drain(): Promise<void> {
    await Promise.resolve(); // what is written in the same tick goes out together
    while (waiting.length > 0) {
      const missing = lost === 0 ? [] : [`${lost} lines were lost, they came faster than they could be written\n`];
      const text = [...waiting, ...missing].join('');
      [waiting, waitingLength, lost] = [[], 0, 0];
      try {
        await put(text);
      } catch {
        // Nobody is left to tell; the server goes on.
      }
    }
    work = undefined;
  }

  async function put(text: string): Promise<void> {
    length ??= await sizeOf(path);
    if (length > 0 && length + text.length > size) {
      await putAside(path, kept);
      length = 0;
    }
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await appendFile(path, text, { mode: 0o600 });
    length += Buffer.byteLength(text);
  }

  return {
    write(line) {
      if (waitingLength > MOST_WAITING) {
        lost += 1;
        return;
      }
      waiting.push(line);
      waitingLength += line.length;
      work ??= drain();
    },
    async flush() {
      await work;
    },
  };
}

async function putAside(path: string, kept: number): Promise<void> {
  for (let number = kept - 1; number >= 1; number--) {
    await rename(`${path}.${number}`, `${path}.${number + 1}`).catch(() => {}); // not so many yet
  }
  await rename(path, `${path}.1`).catch(() => {});
}

async function sizeOf(path: string): Promise<number> {
  return await stat(path).then(
    (stats) => stats.size,
    () => 0,
  );
}
