import type { IncomingMessage } from 'node:http';
import { OAuthError } from '../oauth-error.ts';

const MOST_BYTES = 64 * 1024;

/** The body of a request, bounded. */
export async function readBody(request: IncomingMessage): Promise<string> {
  if (Number(request.headers['content-length'] ?? 0) > MOST_BYTES) throw tooLarge();
  const chunks: Buffer[] = [];
  let size = 0;
  // Who stops in the middle still wants to answer: the connection must not end with the loop.
  for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MOST_BYTES) throw tooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/** RFC 6749 §3.2: form-encoded, and no parameter twice. Nobody after us has to decide which of two values counts. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams> {
  requireType(request, 'application/x-www-form-urlencoded');
  const form = new URLSearchParams(await readBody(request));
  const names = [...form.keys()];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw invalid(`the parameter ${shorten(twice)} is there twice`);
  return form;
}

export async function readJson(request: IncomingMessage): Promise<unknown> {
  requireType(request, 'application/json');
  const body = await readBody(request);
  try {
    return JSON.parse(body);
  } catch {
    throw new OAuthError(400, 'invalid_client_metadata', 'the body is not JSON');
  }
}

function requireType(request: IncomingMessage, wanted: string): void {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== wanted) throw invalid(`the body must be ${wanted}`);
}

function invalid(description: string): OAuthError {
  return new OAuthError(400, 'invalid_request', description);
}

function tooLarge(): OAuthError {
  return new OAuthError(413, 'invalid_request', `the body is larger than ${MOST_BYTES} bytes`);
}

function shorten(name: string): string {
  return JSON.stringify(name.slice(0, 40));
}
