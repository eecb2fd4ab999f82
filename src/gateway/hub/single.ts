import { SallyError } from '../../base/index.ts';
import { type HeaderParam, headerParamsOf, isObject } from '../../mcp/index.ts';
import type { ToolsPlan } from '../../plan/index.ts';
import { type Answer, type Backend, type Call, type Item, read } from '../call.ts';
import type { Forward } from './forward.ts';
import { greetingOf } from './greeting.ts';
import type { Members } from './hub.ts';
import { checkParamHeaders } from './param-headers.ts';
import { ownNames, shownTools } from './tool-rules.ts';

/** One backend: nothing is renamed unless rules say so, and methods we have never heard of reach it too. */
export function createSingle(backend: Backend, forward: Forward, version: string, rules?: ToolsPlan): Members {
  let known: ReadonlyMap<string, readonly HeaderParam[]> | undefined;

  /** The tools that the server lists, each with the arguments that are repeated as headers. */
  function tools(): ReadonlyMap<string, readonly HeaderParam[]> {
    known ??= new Map(
      (backend.listing()?.tools ?? []).map(({ name, inputSchema }) => [
        String(name),
        headerParamsOf(inputSchema) ?? [],
      ]),
    );
    return known;
  }

  return {
    greeting() {
      const hello = backend.hello();
      if (!hello) throw new SallyError('backend.unreachable', `the server ${backend.name} is not available right now`);
      return greetingOf(hello, version);
    },
    answer: rules ? withRules(rules) : pass,
    ownerOf: () => backend,
    changed() {
      known = undefined;
    },
  };

  function pass(call: Call, params = call.params): Promise<Answer> {
    const { method, client } = call;
    if (method === 'tools/call' && client.era === 'modern')
      checkParamHeaders(call, tools().get(String(params.name)) ?? []);
    // A server of the stateless revision is told the level with each request instead.
    if (method === 'logging/setLevel' && !canSetLevel(backend)) return Promise.resolve({ result: {} });
    return forward(backend, call, method, params);
  }

  /** Only lists of tools are looked into, and only calls of tools are changed. */
  function withRules(plan: ToolsPlan): Members['answer'] {
    const own = ownNames(plan);
    return async function answer(call) {
      const { method, params } = call;
      if (method === 'tools/call') {
        const name = typeof params.name === 'string' ? own(params.name) : undefined;
        // One answer for tools that are hidden and for those that do not exist: a refusal never tells what exists.
        if (name === undefined || (backend.listing() && !tools().has(name)))
          throw new SallyError('call.unknown_tool', `Unknown tool: ${String(params.name)}`);
        return await pass(call, name === params.name ? params : { ...params, name });
      }
      const answer = await pass(call);
      if (method !== 'tools/list') return answer;
      const told = read(answer);
      if (!('result' in told)) return told;
      const listed = Array.isArray(told.result.tools) ? (told.result.tools as readonly Item[]) : [];
      return { result: { ...told.result, tools: shownTools(listed, plan) } };
    };
  }
}

function canSetLevel(backend: Backend): boolean {
  const hello = backend.hello();
  return hello?.era === 'legacy' && isObject(hello.capabilities.logging);
}
