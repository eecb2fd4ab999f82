import type { Log } from '../../base/index.ts';
import type { NamingPlan } from '../../plan/index.ts';
import type { Backend, Tool } from '../call.ts';
import { exposedName } from './naming.ts';

export interface Route {
  readonly backend: Backend;
  /** What the backend itself calls it. */
  readonly name: string;
}

/** The tools of all backends under their outside names. */
export interface Catalogue {
  readonly tools: readonly Tool[];
  readonly routes: ReadonlyMap<string, Route>;
}

/** Merges the backends' lists, and only anew when one of them gave out another list than last time. */
export function createCatalogue(
  backends: readonly Backend[],
  naming: NamingPlan,
  log: Log,
): (signal: AbortSignal) => Promise<Catalogue> {
  let sources: readonly (readonly Tool[])[] = [];
  let merged: Catalogue = { tools: [], routes: new Map() };

  return async function catalogue(signal) {
    const lists = await Promise.all(backends.map((backend) => backend.tools(signal)));
    if (lists.length !== sources.length || lists.some((list, index) => list !== sources[index])) {
      sources = lists;
      merged = merge(backends, lists, naming, log);
    }
    return merged;
  };
}

function merge(
  backends: readonly Backend[],
  lists: readonly (readonly Tool[])[],
  naming: NamingPlan,
  log: Log,
): Catalogue {
  const tools: Tool[] = [];
  const routes = new Map<string, Route>();
  backends.forEach((backend, index) => {
    for (const tool of lists[index] ?? []) {
      const name = exposedName(naming, backend.name, tool.name);
      const taken = routes.get(name);
      if (taken) {
        // Backends come in a fixed order, so the same one wins everywhere and every time.
        log.warn('two tools share a name, the first one stays', {
          name,
          stays: taken.backend.name,
          hidden: backend.name,
        });
        continue;
      }
      routes.set(name, { backend, name: tool.name });
      tools.push({ ...tool, name });
    }
  });
  return { tools, routes };
}
