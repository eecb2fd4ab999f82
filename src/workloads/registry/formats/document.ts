import { SallyError } from '../../../base/index.ts';
import type { EntryProblem, Reading, RegistryEntry } from '../entry.ts';
import { at, isObject, type Place, WrongEntry } from './place.ts';
import { type Standing, serverEntry, standingOf } from './server-json.ts';
import { olderEntry } from './toolhive.ts';

export const MAX_BYTES = 10 * 1024 * 1024;
export const MAX_ENTRIES = 10_000;

/** Reads the text of a registry document. `from` says in errors whose it is. */
export function parseDocument(text: string, from: string): Reading {
  try {
    return readDocument(JSON.parse(text), from);
  } catch (cause) {
    if (cause instanceof SallyError) throw cause;
    throw invalid(from, 'it is not JSON', cause);
  }
}

/**
 * Every layout in which registries write their servers: a page of the API (`servers` as a list), a file (`data.servers`), one
 * `server.json`, a list of those, and ToolHive's older maps. An entry that is wrong is left out and named; it does not take
 * the others with it.
 */
export function readDocument(document: unknown, from: string): Reading {
  const found = [...candidates(document)];
  if (found.length === 0 && !isEmptyRegistry(document)) throw invalid(from, 'it has no list of servers in it');
  if (found.length > MAX_ENTRIES) throw invalid(from, `it has more than ${MAX_ENTRIES} entries`);
  const entries = new Map<string, { readonly entry: RegistryEntry; readonly latest: boolean }>();
  const problems: EntryProblem[] = [];
  for (const { place, name, read, standing } of found) {
    try {
      const { deleted, deprecated, latest } = standing();
      if (deleted) continue;
      const entry = deprecated ? { ...read(), status: 'deprecated' as const } : read();
      const other = entries.get(entry.name);
      if (!other || (latest && !other.latest)) entries.set(entry.name, { entry, latest });
      else if (latest || !other.latest)
        problems.push({ at: place.path, name: entry.name, says: 'has the name of an earlier entry' });
    } catch (error) {
      if (!(error instanceof WrongEntry)) throw error;
      problems.push({ at: place.path, ...(name === undefined ? nameIn(place) : { name }), says: error.message });
    }
  }
  return { entries: [...entries.values()].map(({ entry }) => entry), problems };
}

interface Candidate {
  readonly place: Place;
  /** Where the layout keeps it beside the entry. */
  readonly name?: string;
  readonly read: () => RegistryEntry;
  readonly standing: () => Standing;
}

function* candidates(document: unknown): Generator<Candidate> {
  if (Array.isArray(document)) return yield* fromList({ value: document, path: 'servers' });
  if (!isObject(document)) return;
  if (isObject(document.data)) return yield* candidates(document.data);
  if (Array.isArray(document.servers)) return yield* fromList({ value: document.servers, path: 'servers' });
  if (isObject(document.servers) || isObject(document.remote_servers)) {
    yield* fromMap({ value: document.servers, path: 'servers' }, false);
    return yield* fromMap({ value: document.remote_servers, path: 'remote_servers' }, true);
  }
  const single = isObject(document.server) || typeof document.name === 'string';
  if (single) yield* fromList({ value: [document], path: 'servers' });
}

function* fromList({ value, path }: Place): Generator<Candidate> {
  for (const [index, item] of (value as readonly unknown[]).entries()) {
    // The API wraps each server, to say beside it what the registry knows of it.
    const outer = { value: item, path: `${path}[${index}]` };
    const place = isObject(item) && isObject(item.server) ? at(outer, 'server') : outer;
    yield { place, read: () => serverEntry(place), standing: () => standingOf(outer) };
  }
}

function* fromMap(place: Place, remote: boolean): Generator<Candidate> {
  if (!isObject(place.value)) return;
  for (const name of Object.keys(place.value)) {
    const inside = at(place, name);
    const standing = { deleted: false, deprecated: false, latest: false };
    yield { place: inside, name, read: () => olderEntry(name, inside, remote), standing: () => standing };
  }
}

/** An empty list is a registry too. */
function isEmptyRegistry(document: unknown): boolean {
  if (Array.isArray(document)) return true;
  if (!isObject(document)) return false;
  return (
    [document.servers, document.remote_servers].some((list) => isObject(list) || Array.isArray(list)) ||
    isEmptyRegistry(document.data)
  );
}

function nameIn({ value }: Place): { readonly name?: string } {
  return isObject(value) && typeof value.name === 'string' ? { name: value.name.slice(0, 200) } : {};
}

function invalid(from: string, why: string, cause?: unknown): SallyError {
  return new SallyError('registry.invalid', `${from} cannot be used: ${why}`, {
    ...(cause === undefined ? {} : { cause }),
    hint: 'it should be in the format of the MCP registry, or in one of those of ToolHive',
  });
}
