import { SallyError } from '../../../base/index.ts';
import type { EntryProblem, Reading, RegistryEntry } from '../entry.ts';
import { MAX_ENTRIES, parseDocument } from '../formats/document.ts';
import { isObject } from '../formats/place.ts';
import { createFetch, type FetchParts } from './fetch.ts';
import type { ReadOptions, RegistrySource } from './source.ts';

const PAGE = 100;
/** Enough for every entry that a search should find. */
const SEARCH_PAGES = 5;

/** A registry with the API of the official one (v0.1): pages with a cursor, single servers by name, a search. */
export function apiSource(base: URL, parts: FetchParts): RegistrySource {
  const label = `the registry ${base.href}`;
  const fetch = createFetch(label, parts);
  const servers = `${base.href.replace(/\/+$/, '')}/v0.1/servers`;

  function readPage(text: string): { readonly reading: Reading; readonly next: string } {
    return { reading: parseDocument(text, label), next: nextCursor(JSON.parse(text)) };
  }

  async function pages(query: Readonly<Record<string, string>>, most: number, options?: ReadOptions): Promise<Reading> {
    const entries = new Map<string, RegistryEntry>();
    const problems: EntryProblem[] = [];
    const seen = new Set<string>();
    for (let cursor = '', page = 0; page < most; page++) {
      const url = new URL(servers);
      const asked = { limit: String(PAGE), version: 'latest', ...query, ...(cursor ? { cursor } : {}) };
      for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
      const found = await fetch(url, readPage, options);
      if (!found) throw invalid(label, 'it has no API of version v0.1');
      const { reading, next } = found;
      for (const entry of reading.entries) entries.set(entry.name, entry);
      problems.push(...reading.problems);
      cursor = next;
      // A cursor that comes back would lead in circles.
      if (cursor === '' || seen.has(cursor)) break;
      seen.add(cursor);
      if (entries.size >= MAX_ENTRIES) {
        parts.notice(`${label} has more than ${MAX_ENTRIES} servers; the list ends there`);
        break;
      }
    }
    return { entries: [...entries.values()].slice(0, MAX_ENTRIES), problems };
  }

  return {
    label,
    read: (options) => pages({}, Math.ceil(MAX_ENTRIES / PAGE) + 1, options),
    async readNamed(name, options) {
      if (!name.includes('/')) return pages({ search: name }, SEARCH_PAGES, options);
      const url = new URL(`${servers}/${encodeURIComponent(name)}/versions/latest`);
      const reading = await fetch(url, (text) => parseDocument(text, label), options);
      if (!reading) return { entries: [], problems: [] };
      // An answer about another server is none about this one.
      return { ...reading, entries: reading.entries.filter((entry) => entry.name === name) };
    },
    readMatching: (query, options) => pages({ search: query }, SEARCH_PAGES, options),
  };
}

/** Whether an answer looks like the first page of the API. */
export function isApiPage(text: string): boolean {
  try {
    const document: unknown = JSON.parse(text);
    return isObject(document) && Array.isArray(document.servers) && isObject(document.metadata);
  } catch {
    return false;
  }
}

function nextCursor(document: unknown): string {
  const metadata = isObject(document) && isObject(document.metadata) ? document.metadata : {};
  const cursor = metadata.nextCursor ?? metadata.next_cursor;
  return typeof cursor === 'string' && cursor.length <= 2_000 ? cursor : '';
}

function invalid(label: string, why: string): SallyError {
  return new SallyError('registry.invalid', `${label} cannot be used: ${why}`, {
    hint: 'correct it with sally config set-registry',
  });
}
