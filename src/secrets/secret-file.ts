import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { codeOf, SallyError, Secret } from '../base/index.ts';

const MAX_BYTES = 1024 * 1024;

/**
 * The value in a file, without the newline at its end, or `undefined` when there is no file. Reading stops everything else
 * in the process, so nothing is opened that could keep us waiting (a pipe) or never end (a device).
 */
export function readSecretFile(file: string): Secret | undefined {
  try {
    if (!statSync(file).isFile()) throw notAFile(file);
    return new Secret(decode(file, readBounded(file)).replace(/\r?\n$/, ''));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    if (error instanceof SallyError) throw error;
    throw new SallyError('config.unreadable', `the secret file ${file} cannot be read`, {
      cause: error,
      hint: 'check who may read it',
    });
  }
}

function readBounded(file: string): Uint8Array {
  const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    // Somebody may have put something else in its place since the first look.
    if (!fstatSync(descriptor).isFile()) throw notAFile(file);
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    }
    if (length <= MAX_BYTES) return bytes.subarray(0, length);
    throw new SallyError('config.unreadable', `the secret file ${file} is larger than 1 MiB`, {
      hint: 'it should hold the value of one key and nothing else',
    });
  } finally {
    closeSync(descriptor);
  }
}

/** Bytes that are no text would all become the same replacement character: a key of noise would lose most of it. */
function decode(file: string, bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new SallyError('config.unreadable', `the secret file ${file} is not text in UTF-8`, {
      cause,
      hint: 'write the value as text, a key of random bytes in base64',
    });
  }
}

function notAFile(file: string): SallyError {
  return new SallyError('config.unreadable', `the secret file ${file} is not a regular file`, {
    hint: 'put a file with the value there, or a link to one',
  });
}
