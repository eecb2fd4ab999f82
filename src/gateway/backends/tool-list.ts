import { SallyError } from '../../base/index.ts';
import { isObject, type Params } from '../../mcp/index.ts';
import type { ServerHello, Tool } from '../call.ts';
import { GATEWAY_IDENTITY } from './handshake.ts';
import type { Talk } from './link.ts';

/** A server that never stops paging is broken, not large. */
const MAX_PAGES = 1_000;

/** Every tool of a server, page by page. A server without the tools capability has none and is not asked. */
export async function listTools(
  name: string,
  talk: Talk,
  hello: ServerHello,
  signal: AbortSignal,
): Promise<readonly Tool[]> {
  if (!('tools' in hello.capabilities)) return [];
  const tools: Tool[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const params: Params = cursor === undefined ? {} : { cursor };
    const answer = await talk.request('tools/list', params, GATEWAY_IDENTITY, signal);
    if ('error' in answer)
      throw new SallyError('backend.protocol', `${name} cannot list its tools: ${answer.error.message}`);
    const { tools: found, nextCursor } = answer.result;
    if (Array.isArray(found)) tools.push(...found.filter(isTool));
    if (typeof nextCursor !== 'string' || nextCursor === cursor) return tools;
    cursor = nextCursor;
  }
  throw new SallyError('backend.protocol', `${name} lists tools without end`);
}

function isTool(value: unknown): value is Tool {
  return isObject(value) && typeof value.name === 'string' && value.name !== '';
}
