import { SallyError } from '../../base/index.ts';
import { isLoudEnough, META, metaOf, type Params, type RequestId, toRpcError } from '../../mcp/index.ts';
import type { Answer, Question, Told } from '../call.ts';
import { lackingFor } from './capabilities.ts';
import type { Answering } from './legacy.ts';
import type { Channel, LiveCall } from './live-call.ts';
import type { Parking } from './parking.ts';
import { writeAnswer, writeEvent } from './reply.ts';

/** Questions that come within this many milliseconds go out together. */
const GATHER = 5;

interface Open extends Question {
  readonly resolve: (answer: Told) => void;
}

/** How a call of the stateless revision reaches its client: notifications on its own answer, questions as a result to be continued. */
export class ModernChannel implements Channel {
  readonly #call: LiveCall;
  readonly #parking: Parking;
  readonly #serverInfo: Params;
  /** Made with the first question: most calls ask none. */
  #questions: Map<string, Open> | undefined;
  #outlet: Answering | undefined;
  #gathering: NodeJS.Timeout | undefined;
  #answer: Answer | undefined;
  #progressToken: unknown;
  #nextKey = 1;

  constructor(call: LiveCall, outlet: Answering, parking: Parking, serverInfo: Params) {
    this.#call = call;
    this.#parking = parking;
    this.#serverInfo = serverInfo;
    this.#progressToken = metaOf(call.params)?.progressToken;
    this.#take(outlet);
  }

  tell(method: string, params: Params): void {
    const { logLevel } = this.#call.client;
    if (method === 'notifications/message' && (!logLevel || !isLoudEnough(params.level, logLevel))) return;
    // A continuation may have brought a token of its own, or none.
    const told = method === 'notifications/progress' ? { ...params, progressToken: this.#progressToken } : params;
    if (method === 'notifications/progress' && this.#progressToken === undefined) return;
    this.#outlet?.event(JSON.stringify({ jsonrpc: '2.0', method, params: told }));
  }

  ask(question: Question): Promise<Told> {
    const { method, params, withdrawn } = question;
    const lacking = lackingFor(this.#call.client, method, params);
    if (lacking) return this.#refuse(method, lacking);
    this.#questions ??= new Map();
    const questions = this.#questions;
    const key = this.#keyFor(question, questions);
    return new Promise((resolve, reject) => {
      const drop = (reason: Error): void => {
        questions.delete(key);
        forget();
        reject(reason);
      };
      const forget = this.#call.onCancel(drop);
      withdrawn.addEventListener('abort', () => drop(withdrawn.reason as Error), { once: true });
      const done = (answer: Told): void => {
        forget();
        resolve(answer);
      };
      questions.set(key, { ...question, resolve: done });
      this.#gathering ??= setTimeout(() => this.#putQuestions(), GATHER);
    });
  }

  /**
   * The server was told what the client can do and asks for more: the call cannot go on. Roots are another matter: a server that many
   * share looks at them when it likes, in the middle of whatever call there is. It is told no, and the call goes on.
   */
  #refuse(method: string, lacking: Params): Promise<never> {
    const error = new SallyError(
      'call.capability_missing',
      `the server needs ${method}, which the request does not declare`,
      {
        data: { requiredCapabilities: lacking },
      },
    );
    if (method !== 'roots/list') {
      this.finish({ error: toRpcError(error) });
      this.#call.cancel('the client cannot be asked what the server wants to know');
    }
    return Promise.reject(error);
  }

  /** The server's own name for the question, so that people who read along can follow it. */
  #keyFor({ id }: Question, questions: ReadonlyMap<string, Open>): string {
    const key = String(id);
    return questions.has(key) ? `${key}-${this.#nextKey++}` : key;
  }

  /** The call has its answer. If the client is away, being asked something, it gets it when it comes back. */
  finish(answer: Answer): void {
    clearTimeout(this.#gathering);
    const outlet = this.#outlet;
    this.#answer = answer;
    if (!outlet) return;
    this.#outlet = undefined;
    write(outlet, this.#call.id, answer);
  }

  /** The client is back with answers. Those it left out are asked for again. */
  resume(retry: LiveCall, outlet: Answering): void {
    this.#call.id = retry.id;
    this.#progressToken = metaOf(retry.params)?.progressToken;
    this.#take(outlet);
    if (this.#answer) {
      this.finish(this.#answer);
      return;
    }
    const questions = this.#questions;
    if (!questions) return;
    const responses = retry.params.inputResponses;
    if (typeof responses === 'object' && responses !== null) {
      for (const [key, question] of [...questions]) {
        const response: unknown = Object.hasOwn(responses, key) ? (responses as Params)[key] : undefined;
        if (typeof response !== 'object' || response === null) continue;
        questions.delete(key);
        question.resolve({ result: response as Params });
      }
    }
    if (questions.size > 0) this.#putQuestions();
  }

  #take(outlet: Answering): void {
    this.#outlet = outlet;
    outlet.onClose(() => {
      // Closing the stream is how a client of this era cancels; a call that waits for its user is not on this stream any more.
      if (this.#outlet !== outlet) return;
      this.#outlet = undefined;
      this.#call.cancel('the client closed the stream');
    });
  }

  #putQuestions(): void {
    this.#gathering = undefined;
    const outlet = this.#outlet;
    const questions = this.#questions;
    if (!outlet || !questions || questions.size === 0) return;
    const inputRequests = Object.fromEntries(
      [...questions].map(([key, { method, params }]) => [key, { method, params }]),
    );
    let requestState: string;
    try {
      requestState = this.#parking.park(this.#call, this);
    } catch {
      this.#call.cancel('too many calls wait for an answer of their user');
      return;
    }
    this.#outlet = undefined;
    write(outlet, this.#call.id, {
      result: {
        resultType: 'input_required',
        inputRequests,
        requestState,
        _meta: { [META.serverInfo]: this.#serverInfo },
      },
    });
  }
}

function write(outlet: Answering, id: RequestId, answer: Answer): void {
  if (outlet.streaming) {
    outlet.event(writeEvent(id, answer));
    outlet.end();
    return;
  }
  const { status, body } = writeAnswer(id, answer, 'modern');
  outlet.json(status, body);
}
