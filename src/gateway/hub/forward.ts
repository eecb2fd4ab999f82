import { SallyError, type Sealer } from '../../base/index.ts';
import { isObject, type Params } from '../../mcp/index.ts';
import { type Answer, type Backend, type Call, principalOf, read } from '../call.ts';

/** How long a client may take to come back with what a server asked for, in milliseconds. */
const LIFETIME = 60 * 60_000;

interface Wrapped {
  readonly state: string;
  readonly backend: string;
  readonly principal: string;
  readonly method: string;
  readonly until: number;
}

export type Forward = (backend: Backend, call: Call, method: string, params: Params) => Promise<Answer>;

/**
 * Sends a call to its backend. State that a server of the stateless revision gives to a client is sealed on the way out: many
 * callers share one credential towards the server, so only we can tell whose state it is.
 */
export function createForward(sealer: Sealer, now: () => number): Forward {
  return async function forward(backend, call, method, params) {
    const sent =
      'requestState' in params
        ? { ...params, requestState: unwrap(backend, call, method, params.requestState) }
        : params;
    const answer = await backend.request(call, method, sent);
    return call.client.era === 'modern' && mayAsk(answer) ? wrap(backend, call, method, answer) : answer;
  };

  function unwrap(backend: Backend, call: Call, method: string, text: unknown): string {
    const value = typeof text === 'string' ? sealer.open(text) : undefined;
    const fits =
      isWrapped(value) &&
      value.backend === backend.name &&
      value.method === method &&
      value.principal === principalOf(call.identity) &&
      value.until > now();
    if (!fits)
      throw new SallyError(
        'call.invalid_params',
        'requestState was altered, is too old, or belongs to another request',
      );
    return value.state;
  }

  function wrap(backend: Backend, call: Call, method: string, answer: Answer): Answer {
    const told = read(answer);
    if (!('result' in told) || told.result.resultType !== 'input_required') return answer;
    const { requestState } = told.result;
    if (typeof requestState !== 'string') return answer;
    const wrapped: Wrapped = {
      state: requestState,
      backend: backend.name,
      principal: principalOf(call.identity),
      method,
      until: now() + LIFETIME,
    };
    return { result: { ...told.result, requestState: sealer.seal(wrapped) } };
  }
}

/** A quick look that never misses: only an answer with these letters in it can ask for input. */
function mayAsk(answer: Answer): boolean {
  if ('unread' in answer) return answer.unread.includes('input_required');
  return 'result' in answer && answer.result.resultType === 'input_required';
}

function isWrapped(value: unknown): value is Wrapped {
  return isObject(value) && typeof value.state === 'string' && typeof value.backend === 'string';
}
