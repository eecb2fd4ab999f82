import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { setTimeout as pause } from 'node:timers/promises';
import { SallyError } from '../errors.ts';

export interface LockOptions {
  /** How long to wait for others, in milliseconds. */
  readonly within?: number;
}

const SQLITE_BUSY = 5;
const BETWEEN_TRIES = 25;

/**
 * Does something that only one process may do at a time. Node has no lock of the operating system except the one inside
 * SQLite, so we borrow that: an exclusive transaction on an empty database file. The system lets go of it when its holder
 * dies, however it dies, and the file is never deleted: two holders of two files with one name are impossible.
 */
export async function withLock<T>(
  path: string,
  work: () => Promise<T>,
  { within = 10_000 }: LockOptions = {},
): Promise<T> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const { DatabaseSync } = await import('node:sqlite');
  const file = openLock(DatabaseSync, path);
  try {
    for (const since = performance.now(); !tryLock(file, path); ) {
      if (performance.now() - since > within) throw busy(path);
      await pause(BETWEEN_TRIES);
    }
    return await work();
  } finally {
    file.close();
  }
}

function openLock(Database: typeof DatabaseSync, path: string): DatabaseSync {
  try {
    return new Database(path, { timeout: 0 });
  } catch (cause) {
    throw unusable(path, cause);
  }
}

function tryLock(file: DatabaseSync, path: string): boolean {
  try {
    // Without a journal nothing is ever written: a full disk must not keep anybody from removing something.
    file.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE');
    return true;
  } catch (error) {
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return false;
    throw unusable(path, error);
  }
}

function busy(path: string): SallyError {
  return new SallyError('file.busy', `another command is at work and holds ${path}`, { hint: 'try again in a moment' });
}

function unusable(path: string, cause: unknown): SallyError {
  return new SallyError('config.unreadable', `${path} cannot be used as a lock`, {
    cause,
    hint: 'check who may write to its folder; when the file is not empty, delete it',
  });
}
