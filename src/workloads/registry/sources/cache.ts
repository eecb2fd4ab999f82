import { createHash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readBounded, replaceFile } from '../../../base/files/index.ts';

/** An answer that was kept, with what is needed to ask whether it changed. */
export interface Copy {
  readonly url: string;
  readonly fetchedAt: number;
  readonly etag?: string;
  readonly lastModified?: string;
  readonly body: string;
}

const VERSION = 1;
/** An answer of 10 MiB, written as a JSON text. */
const MAX_FILE = 32 * 1024 * 1024;
const MAX_TOTAL = 64 * 1024 * 1024;
const MAX_AGE = 7 * 24 * 3_600_000;

/** Copies of what registries answered, one file for each URL. A copy that cannot be read is one that is not there. */
export function createCache(folder: string, now: () => number) {
  const fileOf = (url: string): string => join(folder, `${createHash('sha256').update(url).digest('hex')}.json`);
  return {
    async get(url: string): Promise<Copy | undefined> {
      const bytes = await readBounded(fileOf(url), MAX_FILE).catch(() => undefined);
      const copy = bytes && parseCopy(bytes.toString('utf8'));
      return copy?.url === url && now() - copy.fetchedAt < MAX_AGE ? copy : undefined;
    },
    /** A full disk or a folder that may not be written costs speed, not the answer. */
    async put(copy: Copy): Promise<void> {
      try {
        await replaceFile(fileOf(copy.url), JSON.stringify({ version: VERSION, ...copy }));
        await prune(folder, now());
      } catch {
        // The next command asks again.
      }
    },
  };
}

export type Cache = ReturnType<typeof createCache>;

function parseCopy(text: string): Copy | undefined {
  try {
    const copy = JSON.parse(text) as Partial<Copy> & { readonly version?: unknown };
    const whole = copy.version === VERSION && typeof copy.url === 'string' && typeof copy.body === 'string';
    return whole && typeof copy.fetchedAt === 'number' ? (copy as Copy) : undefined;
  } catch {
    return undefined;
  }
}

/** Old copies go, and the oldest when all together become too large. */
async function prune(folder: string, now: number): Promise<void> {
  const names = (await readdir(folder)).filter((name) => /^[0-9a-f]{64}\.json$/.test(name));
  const files = await Promise.all(
    names.map(async (name) => {
      const { size, mtimeMs } = await stat(join(folder, name));
      return { path: join(folder, name), size, mtimeMs };
    }),
  );
  let total = 0;
  for (const { path, size, mtimeMs } of files.toSorted((a, b) => b.mtimeMs - a.mtimeMs)) {
    total += size;
    if (total > MAX_TOTAL || now - mtimeMs > MAX_AGE) await rm(path, { force: true });
  }
}
