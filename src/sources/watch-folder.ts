import { type FSWatcher, watch } from 'node:fs';
import { type Found, listFiles, readText } from './files.ts';
import { isDoubtful, isMeantForUs } from './resource-json.ts';

export interface WatchOptions {
  /** How long a folder must be still before a change counts: editors and `kubectl` write in several steps. */
  readonly settle?: number;
  /** How long to wait for that at most: a folder that is written to all the time must not keep a change from us. */
  readonly patience?: number;
  /** How often to look even when nothing was reported: network folders and container mounts tell us nothing. */
  readonly poll?: number;
}

const MAX_WATCHED = 10_000;

/**
 * Yields after the resource files at a path changed and then stayed as they are for a moment. Changes count from the call
 * on, so call first and read then. What counts is names, sizes and times: a file replaced by a rename, a swapped `..data`
 * link of a ConfigMap and a folder put in place of another are seen, a hidden file or the state that a server keeps as JSON
 * is not. A path that is gone counts as empty until it is back. Ends with the signal, and keeps no process alive.
 */
export function watchFolder(path: string, signal: AbortSignal, options: WatchOptions = {}): AsyncIterable<void> {
  const look = createLook(path);
  return changes(path, look, look(), signal, options);
}

async function* changes(
  path: string,
  look: Look,
  atCall: Promise<string>,
  signal: AbortSignal,
  { settle = 100, patience = 2_000, poll = 2_000 }: WatchOptions,
): AsyncGenerator<void> {
  let seen = await atCall;
  let bell = listen(path);
  // Listening starts before each look: what happens after the look rings.
  const renew = (): void => {
    bell.close();
    bell = listen(path);
  };
  try {
    while (!signal.aborted) {
      const now = await look();
      if (now !== seen) {
        seen = await settled(look, now, { settle, patience }, signal);
        if (signal.aborted) return;
        renew(); // the watcher may sit on a folder that was replaced
        yield;
      } else if (await bell.ringsWithin(poll, signal)) {
        await pause(settle, signal);
        renew();
      }
    }
  } finally {
    bell.close();
  }
}

/** The fingerprint once it is the same twice in a row, or when our patience is over. */
async function settled(
  look: Look,
  first: string,
  { settle, patience }: { readonly settle: number; readonly patience: number },
  signal: AbortSignal,
): Promise<string> {
  let last = first;
  for (let waited = 0; waited < patience && !signal.aborted; waited += Math.max(settle, 1)) {
    await pause(settle, signal);
    const now = await look();
    if (now === last) break;
    last = now;
  }
  return last;
}

/** A fingerprint of the resource files there are now. */
type Look = () => Promise<string>;

function createLook(path: string): Look {
  // Whether a doubtful file is ours takes reading it, so that is asked once for each state of it.
  let known = new Map<string, boolean>();
  return async () => {
    const asked = new Map<string, boolean>();
    const isOurs = async (file: Found): Promise<boolean> => {
      if (!isDoubtful(file)) return true;
      const state = `${file.path}\0${file.stamp}`;
      const ours = known.get(state) ?? isMeantForUs(file, await readText(file.path));
      asked.set(state, ours);
      return ours;
    };
    try {
      const { files, faults } = await listFiles(path, MAX_WATCHED);
      const lines = faults.map((fault) => `${fault.path}\0${fault.why}`);
      for (const file of files) if (await isOurs(file)) lines.push(`${file.path}\0${file.stamp}`);
      known = asked;
      return lines.join('\n');
    } catch {
      return ''; // gone, or half replaced: as good as empty until the next look
    }
  };
}

interface Bell {
  /** Whether something was reported before the time was over. */
  ringsWithin(ms: number, signal: AbortSignal): Promise<boolean>;
  close(): void;
}

function listen(path: string): Bell {
  const rung = new AbortController();
  let watcher: FSWatcher | undefined;
  try {
    watcher = watch(path, { recursive: true, persistent: false }, () => rung.abort());
    // The folder went away, or the system has no more watches to give. Looking now and then has to do.
    watcher.on('error', () => watcher?.close());
  } catch {
    // The path is not there right now; the next look tells.
  }
  return {
    ringsWithin: async (ms, signal) => {
      await pause(ms, AbortSignal.any([rung.signal, signal]));
      return rung.signal.aborted;
    },
    close: () => watcher?.close(),
  };
}

/** Waits for the time or the signal, without keeping the process alive. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms).unref();
    signal.addEventListener('abort', done);
  });
}
