import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { SallyError } from '../errors.ts';
import { createChunks } from './chunks.ts';
import type { HttpAnswer, OnStart } from './client.ts';
import { explain } from './failure.ts';
import type { UnderWay } from './under-way.ts';

const NOTHING = Buffer.alloc(0);

/** Where an answer goes. */
export interface Collection {
  readonly maxAnswer: number;
  readonly underWay: UnderWay<Collector>;
  readonly resolve: (answer: HttpAnswer) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers an answer without a stream object in between, unless it is a stream: most answers are one small chunk. */
export class Collector implements Dispatcher.DispatchHandler {
  readonly url: URL;
  readonly #to: Collection;
  #status = 0;
  #headers: IncomingHttpHeaders | undefined;
  #first: Buffer | undefined;
  #more: Buffer[] | undefined;
  #size = 0;
  #stream: ReturnType<typeof createChunks> | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #stopped: Error | undefined;
  #place: number | undefined;
  readonly #onOver: (() => void) | undefined;

  constructor(url: URL, onStart: OnStart | undefined, to: Collection) {
    this.url = url;
    this.#to = to;
    this.#place = to.underWay.add(this);
    this.#onOver = onStart?.((reason) => this.stop(reason));
  }

  /** A request that still waits for its connection cannot be aborted yet: who asked is told at once, and it is not sent. */
  stop(reason: Error): void {
    if (this.#controller) {
      this.#controller.abort(reason);
      return;
    }
    this.#stopped = reason;
    this.#over();
    this.#to.reject(explain(reason, this.url));
  }

  #over(): void {
    if (this.#place === undefined) return;
    this.#to.underWay.leave(this.#place);
    this.#place = undefined;
    this.#onOver?.();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#stopped) controller.abort(this.#stopped);
    else this.#controller = controller;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.#status = status;
    this.#headers = headers;
    if (!isEventStream(headers['content-type'])) return;
    this.#stream = createChunks({
      pause: () => controller.pause(),
      resume: () => controller.resume(),
      abandon: () => controller.abort(new SallyError('fetch.unreachable', 'the stream was left')),
    });
    this.#to.resolve({ status, headers, bytes: NOTHING, stream: this.#stream.chunks });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#stream) {
      this.#stream.push(chunk);
      return;
    }
    this.#size += chunk.byteLength;
    if (this.#size > this.#to.maxAnswer) controller.abort(tooLarge(this.url, this.#to.maxAnswer));
    else if (!this.#first) this.#first = chunk;
    else if (this.#more) this.#more.push(chunk);
    else this.#more = [this.#first, chunk];
  }

  onResponseEnd(): void {
    this.#over();
    if (this.#stream) {
      this.#stream.end();
      return;
    }
    const bytes = this.#more ? Buffer.concat(this.#more) : (this.#first ?? NOTHING);
    this.#to.resolve({ status: this.#status, headers: this.#headers ?? {}, bytes });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.#over();
    const explained = explain(error, this.url);
    if (this.#stream) this.#stream.fail(explained);
    else this.#to.reject(explained);
  }
}

function isEventStream(type: string | undefined): boolean {
  return type !== undefined && type !== 'application/json' && type.toLowerCase().startsWith('text/event-stream');
}

function tooLarge(url: URL, limit: number): SallyError {
  return new SallyError('fetch.too_large', `${url.origin} answered more than ${limit} bytes`);
}
