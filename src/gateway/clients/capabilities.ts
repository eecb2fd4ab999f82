import { SallyError } from '../../base/index.ts';
import { isAtLeast, isObject, type Params } from '../../mcp/index.ts';
import type { Client } from '../call.ts';

/** The capability a client lacks to be asked something, as the object that MCP wants in an error; `undefined` when it lacks none. */
export function lackingFor(client: Client, method: string, params: Params): Params | undefined {
  const needed = neededFor(method, params);
  return declares(client, needed) ? undefined : needed;
}

function neededFor(method: string, params: Params): Params {
  switch (method) {
    case 'elicitation/create':
      return { elicitation: params.mode === 'url' ? { url: {} } : {} };
    case 'sampling/createMessage':
      return { sampling: 'tools' in params || 'toolChoice' in params ? { tools: {} } : {} };
    case 'roots/list':
      return { roots: {} };
    default:
      return { experimental: { [method]: {} } };
  }
}

/** Refuses a question the client did not say it understands. */
export function refuseUnasked(client: Client, method: string, params: Params): void {
  const lacking = lackingFor(client, method, params);
  if (!lacking) return;
  throw new SallyError('call.cannot_ask', `the client cannot be asked for ${method}`, {
    data: { requiredCapabilities: lacking },
  });
}

function declares({ capabilities, revision }: Client, needed: Params): boolean {
  if ('elicitation' in needed) {
    const { elicitation } = capabilities;
    // Elicitation came with 2025-06-18; `{}` means forms, which is all there was until 2025-11-25.
    if (!isObject(elicitation) || !isAtLeast(revision, '2025-06-18')) return false;
    if (isObject(needed.elicitation) && 'url' in needed.elicitation) return 'url' in elicitation;
    return 'form' in elicitation || !('url' in elicitation);
  }
  if ('sampling' in needed) {
    const { sampling } = capabilities;
    if (!isObject(sampling)) return false;
    return !(isObject(needed.sampling) && 'tools' in needed.sampling) || 'tools' in sampling;
  }
  return 'roots' in needed && isObject(capabilities.roots);
}
