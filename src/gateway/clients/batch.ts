import { SallyError } from '../../base/index.ts';
import type { RpcMessage } from '../../mcp/index.ts';
import type { Answering, Incoming, Legacy } from './legacy.ts';

/** The one revision that knows batches. A client that names none is taken to speak it. */
const REVISION = '2025-03-26';
const MAX_BATCH = 100;

/** Several messages in one POST: each is handled as if it came alone, and the answers go back together. */
export async function postBatch(legacy: Legacy, incoming: Incoming, messages: readonly RpcMessage[]): Promise<void> {
  const revision = incoming.headers['mcp-protocol-version'] ?? REVISION;
  if (revision !== REVISION || messages.length === 0 || messages.length > MAX_BATCH) {
    throw new SallyError(
      'call.invalid_request',
      `batches are part of MCP ${REVISION} only, with 1 to ${MAX_BATCH} messages; send one message at a time`,
    );
  }
  if (messages.some((message) => 'method' in message && message.method === 'initialize')) {
    throw new SallyError('call.invalid_request', 'initialize cannot be part of a batch');
  }
  const { outlet } = incoming;
  const answers = new BatchAnswers(outlet);
  await Promise.all(messages.map((message) => legacy.post({ ...incoming, outlet: answers }, message, undefined)));
  answers.finish();
}

/** Gathers the answers, or sends each as an event once one of the calls had something to say in between. */
class BatchAnswers implements Answering {
  readonly #outlet: Answering;
  readonly #gathered: string[] = [];

  constructor(outlet: Answering) {
    this.#outlet = outlet;
  }

  get open(): boolean {
    return this.#outlet.open;
  }

  get streaming(): boolean {
    return this.#outlet.streaming;
  }

  json(_status: number, body: string | Uint8Array): void {
    this.#gathered.push(typeof body === 'string' ? body : Buffer.from(body).toString('utf8'));
  }

  event(...args: Parameters<Answering['event']>): void {
    this.#outlet.event(...args);
  }

  stream(): void {
    this.#outlet.stream();
  }

  onClose(listener: () => void): void {
    this.#outlet.onClose(listener);
  }

  empty(): void {}
  end(): void {} // the others may still have something to say

  finish(): void {
    if (this.#outlet.streaming) {
      for (const body of this.#gathered) this.#outlet.event(body);
      this.#outlet.end();
    } else if (this.#gathered.length === 0) {
      this.#outlet.empty(202);
    } else {
      this.#outlet.json(200, `[${this.#gathered.join(',')}]`);
    }
  }
}
