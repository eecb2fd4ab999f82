import { SallyError } from '../../base/index.ts';
import { isObject, type Params } from '../../mcp/index.ts';
import type { Call, Told } from '../call.ts';

/** A server that keeps asking does not get an answer by being asked for ever. */
const MAX_ROUNDS = 10;
const NEVER = new AbortController().signal;

/**
 * A server of the stateless revision asks its user through results; a client of a stateful one expects to be asked by
 * requests. This puts each question to the client and sends the call again with the answers, until the server is content.
 */
export async function answerRounds(call: Call, params: Params, send: (params: Params) => Promise<Told>): Promise<Told> {
  let told = await send(params);
  for (let round = 0; needsInput(told); round++) {
    if (round === MAX_ROUNDS) throw new SallyError('backend.protocol', 'the server keeps asking for more input');
    const { inputRequests, requestState } = told.result;
    const inputResponses = await askAll(call, isObject(inputRequests) ? inputRequests : {});
    told = await send({ ...params, inputResponses, ...(requestState === undefined ? {} : { requestState }) });
  }
  return told;
}

function needsInput(told: Told): told is { readonly result: Params } {
  return 'result' in told && told.result.resultType === 'input_required';
}

async function askAll(call: Call, requests: Params): Promise<Params> {
  const answers = await Promise.all(
    Object.entries(requests).map(async ([key, request]): Promise<[string, Params]> => {
      if (!isObject(request) || typeof request.method !== 'string') {
        throw new SallyError('backend.protocol', 'the server asks for input in a form that is not MCP');
      }
      return [key, await askOne(call, key, request.method, isObject(request.params) ? request.params : {})];
    }),
  );
  return Object.fromEntries(answers);
}

async function askOne(call: Call, id: string, method: string, params: Params): Promise<Params> {
  const told = await call.ask({ id, method, params, withdrawn: NEVER });
  if ('result' in told) return told.result;
  // A form that could not be shown is a form that was not filled in; the server decides what that means.
  if (method === 'elicitation/create') return { action: 'cancel' };
  throw new SallyError('call.cannot_ask', `the client did not answer ${method}: ${told.error.message}`);
}
