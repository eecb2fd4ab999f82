import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { SallyError } from '../../base/index.ts';

const MAX_BODY_BYTES = 8 * 1024 * 1024;

/**
 * What `understand` makes of the whole body. A declared length over the limit is refused unread, an undeclared one as soon as it
 * gets there.
 */
export function readBody<T>(
  request: IncomingMessage,
  understand: (text: string) => T,
  limit: number = MAX_BODY_BYTES,
): Promise<T> {
  if (Number(request.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge(limit));
  return new Promise((resolve, reject) => {
    let first: Buffer | undefined;
    let more: Buffer[] | undefined;
    let size = 0;
    request.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      if (size > limit) {
        request.pause();
        reject(tooLarge(limit));
      } else if (!first) first = chunk;
      else if (more) more.push(chunk);
      else more = [first, chunk];
    });
    request.on('end', () => {
      try {
        resolve(understand(decode(more ? Buffer.concat(more) : (first ?? Buffer.alloc(0)))));
      } catch (error) {
        reject(error as Error);
      }
    });
    request.on('error', reject);
  });
}

/** Bytes that are not UTF-8 would be replaced by question marks, and what we checked would not be what was sent. */
function decode(bytes: Buffer): string {
  if (!isUtf8(bytes)) throw new SallyError('call.parse_error', 'the body is not UTF-8');
  return bytes.toString('utf8');
}

function tooLarge(limit: number): SallyError {
  return new SallyError('call.body_too_large', `the request body is larger than ${limit / 1024 / 1024} MiB`);
}
