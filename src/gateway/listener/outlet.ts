import type { ServerResponse } from 'node:http';

/** A reader who lets this many bytes pile up is gone or hostile. */
const MAX_WAITING = 16 * 1024 * 1024;
const KEEP_ALIVE = 15_000;
/** Up to this size copying a body costs less than writing it apart from its head. */
const MAX_JOINED = 16 * 1024;

/** The answer to one HTTP request: one JSON body, or an event stream once the first event is written. */
export class Outlet {
  readonly #response: ServerResponse;
  #keepAlive: NodeJS.Timeout | undefined;
  #streaming = false;

  constructor(response: ServerResponse) {
    this.#response = response;
  }

  /** Somebody still reads, and the answer is not complete. */
  get open(): boolean {
    return !this.#response.destroyed && !this.#response.writableEnded;
  }

  get streaming(): boolean {
    return this.#streaming;
  }

  onClose(listener: () => void): void {
    this.#response.once('close', listener);
  }

  json(status: number, body: string | Uint8Array, headers: Readonly<Record<string, string>> = {}): void {
    if (!this.open) return;
    const length = typeof body === 'string' ? Buffer.byteLength(body) : body.byteLength;
    this.#response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers });
    // Node joins a text with the head into one write, bytes need a second one. latin1 keeps bytes as they are.
    if (typeof body === 'string' || length > MAX_JOINED) this.#response.end(body);
    else this.#response.end(Buffer.from(body.buffer, body.byteOffset, length).toString('latin1'), 'latin1');
  }

  empty(status: number, headers: Readonly<Record<string, string>> = {}): void {
    if (this.open) this.#response.writeHead(status, headers).end();
  }

  /** Turns the answer into an event stream. */
  stream(headers: Readonly<Record<string, string>> = {}): void {
    if (this.#streaming || !this.open) return;
    this.#streaming = true;
    this.#response.writeHead(200, {
      'content-type': 'text/event-stream',
      'cache-control': 'no-store',
      'x-accel-buffering': 'no',
      ...headers,
    });
    this.#response.flushHeaders();
    this.#keepAlive = setInterval(() => this.#write(':\n\n'), KEEP_ALIVE).unref();
    this.onClose(() => clearInterval(this.#keepAlive));
  }

  event(data: string, fields: { readonly id?: string; readonly event?: string; readonly retry?: number } = {}): void {
    this.stream();
    const id = fields.id === undefined ? '' : `id: ${fields.id}\n`;
    const event = fields.event === undefined ? '' : `event: ${fields.event}\n`;
    const retry = fields.retry === undefined ? '' : `retry: ${fields.retry}\n`;
    this.#write(`${id}${event}${retry}data: ${oneField(data)}\n\n`);
  }

  end(): void {
    clearInterval(this.#keepAlive);
    if (this.open) this.#response.end();
  }

  #write(text: string): void {
    if (!this.open) return;
    this.#response.write(text);
    if (this.#response.writableLength > MAX_WAITING) this.#response.destroy();
  }
}

/** A line break ends a field, and an empty line the event: text of several lines is a field of several lines. */
function oneField(data: string): string {
  return /[\r\n]/.test(data) ? data.replaceAll(/\r\n|\r|\n/g, '\ndata: ') : data;
}
