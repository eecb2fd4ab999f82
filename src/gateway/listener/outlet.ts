import type { ServerResponse } from 'node:http';

/** A reader who lets this many bytes pile up is gone or hostile. */
const MAX_WAITING = 16 * 1024 * 1024;
const KEEP_ALIVE = 15_000;
const NO_HEADERS: Readonly<Record<string, string>> = {};

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
    this.#response.on('close', listener);
  }

  json(status: number, body: string, headers: Readonly<Record<string, string>> = NO_HEADERS): void {
    if (!this.open) return;
    const length = Buffer.byteLength(body);
    const head = ['content-type', 'application/json', 'content-length', String(length)];
    for (const name in headers) head.push(name, headers[name] ?? '');
    this.#response.writeHead(status, head);
    // Node joins a text with its head into one write. As many bytes as characters is ASCII, for which latin1 is the faster name.
    this.#response.end(body, length === body.length ? 'latin1' : 'utf8');
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
