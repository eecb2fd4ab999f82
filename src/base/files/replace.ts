import { randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, realpath, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf, SallyError } from '../errors.ts';

/**
 * Writes a file so that a reader sees the old content or the new, never a part, even when the power fails in between.
 * Only its owner can read it. A link stays a link: what it points to is replaced.
 */
export async function replaceFile(path: string, content: string | Uint8Array): Promise<void> {
  const target = await realpath(path).catch(() => path);
  const folder = dirname(target);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  try {
    const file = await open(draft, 'wx', 0o600);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
  await syncFolder(folder);
}

/** The new name itself has to reach the disk as well. Some systems cannot sync a folder; they are as safe as they can be. */
async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r').catch(() => undefined);
  if (!handle) return;
  try {
    await handle.sync();
  } catch {
    // Windows and some network file systems refuse it.
  } finally {
    await handle.close();
  }
}

const CHUNK = 64 * 1024;

/**
 * The bytes of a regular file, or `undefined` when there is none. A larger one is refused before it fills the memory, and a
 * pipe or device before it keeps us waiting.
 */
export async function readBounded(path: string, most: number): Promise<Buffer | undefined> {
  try {
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      if (!(await file.stat()).isFile()) throw unreadable(`${path} is not a regular file`);
      const chunks: Buffer[] = [];
      let length = 0;
      for (;;) {
        const { buffer, bytesRead } = await file.read({ buffer: Buffer.allocUnsafe(CHUNK) });
        if (bytesRead === 0) return Buffer.concat(chunks, length);
        length += bytesRead;
        if (length > most) throw unreadable(`${path} is larger than ${most} bytes`);
        chunks.push(buffer.subarray(0, bytesRead));
      }
    } finally {
      await file.close();
    }
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    if (error instanceof SallyError) throw error;
    throw new SallyError('config.unreadable', `${path} cannot be read`, {
      cause: error,
      hint: 'check who may read it',
    });
  }
}

function unreadable(message: string): SallyError {
  return new SallyError('config.unreadable', message, { hint: 'put the right file there' });
}
