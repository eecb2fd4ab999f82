import type { IncomingMessage } from 'node:http';
import { SallyError } from '../../base/index.ts';

export const MAX_BODY_BYTES = 8 * 1024 * 1024;

/** The whole body as text. A declared length over the limit is refused unread, an undeclared one as soon as it gets there. */
export async function readBody(request: IncomingMessage, limit: number = MAX_BODY_BYTES): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.byteLength;
    if (size > limit) throw tooLarge(limit);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

function tooLarge(limit: number): SallyError {
  return new SallyError('call.body_too_large', `the request body is larger than ${limit / 1024 / 1024} MiB`);
}
