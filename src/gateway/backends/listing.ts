import { SallyError } from '../../base/index.ts';
import { headerParamsOf, isObject, type Params } from '../../mcp/index.ts';
import { type Item, LIST_KINDS, type Listing, type ListKind, read, type ServerHello } from '../call.ts';
import { type Asking, OwnCall } from './own-call.ts';
import type { Talk } from './talk.ts';

/** How each kind is asked for, which capability promises it, and which field names an entry. */
const LISTS: Readonly<
  Record<
    ListKind,
    { readonly method: string; readonly capability: string; readonly field: string; readonly name: string }
  >
> = {
  tools: { method: 'tools/list', capability: 'tools', field: 'tools', name: 'name' },
  resources: { method: 'resources/list', capability: 'resources', field: 'resources', name: 'uri' },
  templates: {
    method: 'resources/templates/list',
    capability: 'resources',
    field: 'resourceTemplates',
    name: 'uriTemplate',
  },
  prompts: { method: 'prompts/list', capability: 'prompts', field: 'prompts', name: 'name' },
};

/** A server that never stops paging is broken, not large. */
const MAX_PAGES = 500;
const MAX_ITEMS = 20_000;
const MAX_LENGTH = 32 * 1024 * 1024;

export const EMPTY_LISTING: Listing = { tools: [], resources: [], templates: [], prompts: [] };

/** The lists of a server, those kinds that it has. */
export async function readListing(
  name: string,
  talk: Talk,
  asking: Asking,
  kinds: readonly ListKind[],
  signal: AbortSignal,
): Promise<Partial<Listing>> {
  const lists = await Promise.all(
    kinds.map(
      async (kind): Promise<[ListKind, readonly Item[]]> => [kind, await readList(name, talk, asking, kind, signal)],
    ),
  );
  return Object.fromEntries(lists);
}

async function readList(
  name: string,
  talk: Talk,
  asking: Asking,
  kind: ListKind,
  signal: AbortSignal,
): Promise<readonly Item[]> {
  const { method, capability, field, name: key } = LISTS[kind];
  if (!has(talk.hello, capability)) return [];
  const items: Item[] = [];
  let length = 0;
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && items.length < MAX_ITEMS && length < MAX_LENGTH; page++) {
    const params: Params = cursor === undefined ? {} : { cursor };
    const call = new OwnCall(method, params, asking.identity, asking.client, signal);
    const told = read(await talk.request(call, method, params));
    if ('error' in told) {
      // Resources without templates: the method is not there, and that is fine.
      if (told.error.code === -32601) return items;
      throw new SallyError('backend.protocol', `${name} cannot list its ${kind}: ${told.error.message}`);
    }
    const found = told.result[field];
    if (Array.isArray(found)) {
      length += JSON.stringify(found).length;
      for (const item of found)
        if (isObject(item) && typeof item[key] === 'string' && item[key] !== '') items.push(item);
    }
    const { nextCursor } = told.result;
    if (typeof nextCursor !== 'string' || nextCursor === cursor)
      return kind === 'tools' ? usable(items, talk.hello) : items;
    cursor = nextCursor;
  }
  throw new SallyError('backend.protocol', `${name} lists more ${kind} than anybody could use`);
}

/** A client of the stateless revision must leave out tools whose header annotations break the rules. */
function usable(tools: readonly Item[], { era }: ServerHello): readonly Item[] {
  return era === 'modern' ? tools.filter(({ inputSchema }) => headerParamsOf(inputSchema) !== undefined) : tools;
}

function has({ capabilities }: ServerHello, capability: string): boolean {
  return isObject(capabilities[capability]);
}

/** The lists that a notification of a server is about. */
export function kindsOf(method: string): readonly ListKind[] {
  switch (method) {
    case 'notifications/tools/list_changed':
      return ['tools'];
    case 'notifications/prompts/list_changed':
      return ['prompts'];
    case 'notifications/resources/list_changed':
      return ['resources', 'templates'];
    default:
      return [];
  }
}

/** The kinds whose entries differ. Servers may list in any order, and the same entries in another order are the same list. */
export function differing(before: Listing, after: Listing): readonly ListKind[] {
  return LIST_KINDS.filter((kind) => {
    const { name } = LISTS[kind];
    const sorted = (items: readonly Item[]): string =>
      JSON.stringify([...items].sort((a, b) => (String(a[name]) < String(b[name]) ? -1 : 1)));
    return before[kind] !== after[kind] && sorted(before[kind]) !== sorted(after[kind]);
  });
}
