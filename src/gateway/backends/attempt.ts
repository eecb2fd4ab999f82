import { SallyError } from '../../base/index.ts';
import type { Params, RawParams, RequestId } from '../../mcp/index.ts';
import type { Call, Client, Identity, Question, Told } from '../call.ts';

/** However often it reports progress, a request does not take longer than this many times its own limit. */
const LONGEST = 20;
/** Questions that may wait for the caller at the same time. A server that asks more is broken or hostile. */
const MAX_ASKING = 32;

/** A call on its way through one backend, with a deadline of its own. Progress moves the deadline, and so does asking the user. */
export class Attempt implements Call {
  readonly #call: Call;
  readonly #limit: number;
  readonly #name: string;
  readonly #began = performance.now();
  #timer: NodeJS.Timeout | undefined;
  #late: SallyError | undefined;
  #over = false;
  #asking = 0;
  #listeners: ((reason: SallyError) => void)[] | undefined;
  readonly #forget: () => void;

  constructor(call: Call, name: string, limit: number) {
    this.#call = call;
    this.#name = name;
    this.#limit = limit;
    this.#timer = setTimeout(this.#expire, limit);
    this.#forget = call.onCancel((reason) => this.#stop(reason));
  }

  get id(): RequestId {
    return this.#call.id;
  }
  get method(): string {
    return this.#call.method;
  }
  get params(): Params {
    return this.#call.params;
  }
  get raw(): RawParams | undefined {
    return this.#call.raw;
  }
  get identity(): Identity {
    return this.#call.identity;
  }
  get client(): Client {
    return this.#call.client;
  }
  get paramHeaders(): Readonly<Record<string, string>> | undefined {
    return this.#call.paramHeaders;
  }
  get cancelled(): SallyError | undefined {
    return this.#call.cancelled ?? this.#late;
  }
  /** The deadline passed: the backend is to blame, not the caller. */
  get late(): boolean {
    return this.#late !== undefined;
  }

  tell(method: string, params: Params): void {
    if (method === 'notifications/progress') this.#refresh();
    this.#call.tell(method, params);
  }

  async ask(question: Question): Promise<Told> {
    if (this.#asking >= MAX_ASKING) throw new SallyError('call.too_many', 'the server asks too much at once');
    this.#asking += 1;
    clearTimeout(this.#timer);
    try {
      return await this.#call.ask(question);
    } finally {
      this.#asking -= 1;
      if (this.#asking === 0 && !this.#over && !this.cancelled) this.#timer = setTimeout(this.#expire, this.#limit);
    }
  }

  onCancel(listener: (reason: SallyError) => void): () => void {
    const already = this.cancelled;
    if (already) {
      listener(already);
      return () => {};
    }
    this.#listeners ??= [];
    this.#listeners.push(listener);
    return () => {
      const at = this.#listeners?.indexOf(listener) ?? -1;
      if (at !== -1) this.#listeners?.splice(at, 1);
    };
  }

  done(): void {
    this.#over = true;
    clearTimeout(this.#timer);
    this.#forget();
  }

  #refresh(): void {
    if (performance.now() - this.#began < this.#limit * LONGEST) this.#timer?.refresh();
  }

  readonly #expire = (): void => {
    this.#late = new SallyError('backend.timeout', `the server ${this.#name} did not answer in time`);
    this.#stop(this.#late);
  };

  #stop(reason: SallyError): void {
    clearTimeout(this.#timer);
    for (const listener of this.#listeners?.splice(0) ?? []) listener(reason);
  }
}
