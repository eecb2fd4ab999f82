import { SallyError } from '../../base/index.ts';
import type { Params, RawParams, RequestId } from '../../mcp/index.ts';
import type { Call, Client, Identity, Question, Told } from '../call.ts';

/** How a call reaches its caller while it runs. Each era has its own way. */
export interface Channel {
  tell(method: string, params: Params): void;
  ask(question: Question): Promise<Told>;
}

/** What a call is made of; the rest is what happens to it. */
export type CallFields = Pick<Call, 'id' | 'method' | 'params' | 'raw' | 'identity' | 'client' | 'paramHeaders'>;

/** A call under way. One is made for each request, so it holds little and makes nothing before it is needed. */
export class LiveCall implements Call {
  id: RequestId;
  readonly method: string;
  readonly params: Params;
  readonly raw: RawParams | undefined;
  readonly identity: Identity;
  readonly client: Client;
  readonly paramHeaders: Readonly<Record<string, string>> | undefined;
  channel: Channel | undefined;
  cancelled: SallyError | undefined;
  #listeners: ((reason: SallyError) => void)[] | undefined;

  constructor(fields: CallFields) {
    this.id = fields.id;
    this.method = fields.method;
    this.params = fields.params;
    this.raw = fields.raw;
    this.identity = fields.identity;
    this.client = fields.client;
    this.paramHeaders = fields.paramHeaders;
  }

  tell(method: string, params: Params): void {
    if (!this.cancelled) this.channel?.tell(method, params);
  }

  ask(question: Question): Promise<Told> {
    if (this.cancelled) return Promise.reject(this.cancelled);
    if (!this.channel) return Promise.reject(new SallyError('call.cannot_ask', 'nobody is there to be asked'));
    return this.channel.ask(question);
  }

  onCancel(listener: (reason: SallyError) => void): () => void {
    if (this.cancelled) {
      listener(this.cancelled);
      return () => {};
    }
    this.#listeners ??= [];
    this.#listeners.push(listener);
    return () => {
      const at = this.#listeners?.indexOf(listener) ?? -1;
      if (at !== -1) this.#listeners?.splice(at, 1);
    };
  }

  cancel(why: string): void {
    if (this.cancelled) return;
    this.cancelled = new SallyError('call.cancelled', why);
    for (const listener of this.#listeners?.splice(0) ?? []) listener(this.cancelled);
  }
}
