import type { IncomingMessage, ServerResponse } from 'node:http';

const MAX_FORM = 4 * 1024;

/** The fields of a small form, or `undefined` when it is not one. A field that comes twice makes it none. */
export async function readForm(request: IncomingMessage): Promise<ReadonlyMap<string, string> | undefined> {
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/x-www-form-urlencoded') return undefined;
  let size = 0;
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_FORM) return undefined;
    chunks.push(chunk);
  }
  const fields = [...new URLSearchParams(Buffer.concat(chunks).toString('utf8'))];
  const form = new Map(fields);
  return form.size === fields.length ? form : undefined;
}

/** Only ever answers a GET: behind a form, browsers hold redirects to `form-action`. */
export function redirect(response: ServerResponse, location: string): void {
  response
    .writeHead(303, {
      location,
      'content-length': '0',
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
    })
    .end();
}
