import { SallyError } from '../../base/index.ts';
import { LATEST_LEGACY, type Params, type RequestId } from '../../mcp/index.ts';
import type { Call, Client, Identity, Told } from '../call.ts';

/** Whom the gateway speaks as when no user is involved: opening a conversation, listing what a server offers. */
export const GATEWAY_IDENTITY: Identity = { kind: 'anonymous' };

/**
 * Servers may offer more to a client that can be asked more. The lists we keep are for all clients, so we say that everything can be
 * asked; who really is asked decides itself with each call.
 */
export function gatewayClient(version: string): Client {
  return {
    era: 'legacy',
    revision: LATEST_LEGACY,
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    info: { name: 'sallyport', title: 'Sallyport', version },
    key: 'gateway',
    alone: false,
    logLevel: undefined,
  };
}

/** On whose behalf the gateway asks something by itself. */
export interface Asking {
  readonly client: Client;
  readonly identity: Identity;
}

/** A request of the gateway itself, which ends with its signal. */
export class OwnCall implements Call {
  static #next = 1;
  readonly id: RequestId = `sally-${OwnCall.#next++}`;
  readonly raw = undefined;
  readonly paramHeaders = undefined;
  readonly method: string;
  readonly params: Params;
  readonly identity: Identity;
  readonly client: Client;
  readonly #signal: AbortSignal;

  constructor(method: string, params: Params, identity: Identity, client: Client, signal: AbortSignal) {
    this.method = method;
    this.params = params;
    this.identity = identity;
    this.client = client;
    this.#signal = signal;
  }

  tell(): void {}

  ask(): Promise<Told> {
    return Promise.reject(new SallyError('call.cannot_ask', 'there is no user behind this request'));
  }

  get cancelled(): SallyError | undefined {
    return this.#signal.aborted ? tookTooLong() : undefined;
  }

  onCancel(listener: (reason: SallyError) => void): () => void {
    const onAbort = (): void => listener(tookTooLong());
    if (this.#signal.aborted) onAbort();
    else this.#signal.addEventListener('abort', onAbort, { once: true });
    return () => this.#signal.removeEventListener('abort', onAbort);
  }
}

function tookTooLong(): SallyError {
  return new SallyError('backend.timeout', 'the server did not answer in time');
}
