import { SallyError } from '../../base/index.ts';
import { type HeaderParam, headerParamsOf, isObject } from '../../mcp/index.ts';
import type { Backend } from '../call.ts';
import type { Forward } from './forward.ts';
import { greetingOf } from './greeting.ts';
import type { Members } from './hub.ts';
import { checkParamHeaders } from './param-headers.ts';

/** One backend: nothing is renamed, and methods we have never heard of reach it too. */
export function createSingle(backend: Backend, forward: Forward, version: string): Members {
  let headerParams: ReadonlyMap<string, readonly HeaderParam[]> | undefined;

  function paramsOf(tool: unknown): readonly HeaderParam[] {
    headerParams ??= new Map(
      (backend.listing()?.tools ?? []).map(({ name, inputSchema }) => [
        String(name),
        headerParamsOf(inputSchema) ?? [],
      ]),
    );
    return headerParams.get(String(tool)) ?? [];
  }

  return {
    greeting() {
      const hello = backend.hello();
      if (!hello) throw new SallyError('backend.unreachable', `the server ${backend.name} is not available right now`);
      return greetingOf(hello, version);
    },
    async answer(call) {
      const { method, params, client } = call;
      if (method === 'tools/call' && client.era === 'modern') checkParamHeaders(call, paramsOf(params.name));
      // A server of the stateless revision is told the level with each request instead.
      if (method === 'logging/setLevel' && !canSetLevel(backend)) return { result: {} };
      return await forward(backend, call, method, params);
    },
    ownerOf: () => backend,
    changed() {
      headerParams = undefined;
    },
  };
}

function canSetLevel(backend: Backend): boolean {
  const hello = backend.hello();
  return hello?.era === 'legacy' && isObject(hello.capabilities.logging);
}
