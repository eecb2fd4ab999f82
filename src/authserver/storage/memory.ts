import { SallyError } from '../../base/index.ts';
import { createGroups } from './memory-groups.ts';
import type { Store } from './store.ts';

/** What happens when the rows of one kind, the part of a key before its colon, are too many. */
export interface Shelf {
  readonly most: number;
  /** `drop` makes room by leaving out the row that was not used for the longest time; `refuse` keeps what is there. */
  readonly whenFull: 'drop' | 'refuse';
}

export interface MemoryStoreOptions {
  /** By kind. Kinds without a shelf refuse new rows when the store is full. */
  readonly shelves?: Readonly<Record<string, Shelf>>;
  readonly maxRows?: number;
  readonly maxBytes?: number;
  /** Milliseconds. */
  readonly now: () => number;
}

/** A store that answers at once whether there is a row. */
export interface MemoryStore extends Store {
  has(key: string): boolean;
  report(): { readonly rows: number; readonly bytes: number };
}

interface Row {
  readonly value: string;
  readonly expires: number;
}

const MAX_ROWS = 200_000;
const MAX_BYTES = 256 * 1024 * 1024;
const SWEEP_EVERY = 30_000;
/** Also when the store is full: looking at every row for each refused request would be a way to keep us busy. */
const SWEEP_AT_MOST_EVERY = 1_000;
/** What a row costs beyond its characters, roughly: map entries and objects. */
const ROW_OVERHEAD = 200;

/**
 * Rows in this process. Strangers cause rows, so there is a bound in every direction: when it is reached, clients that nobody
 * logged in with give way, and what is left is refused. A login that stands is never dropped.
 */
export function createMemoryStore(options: MemoryStoreOptions): MemoryStore {
  const { shelves = {}, maxRows = MAX_ROWS, maxBytes = MAX_BYTES, now } = options;
  /** By kind, each in the order of last use. */
  const rows = new Map<string, Map<string, Row>>();
  const groups = createGroups(now);
  let count = 0;
  let bytes = 0;
  let sweepAt = now() + SWEEP_EVERY;

  function read(key: string): Row | undefined {
    const row = rows.get(kindOf(key))?.get(key);
    if (row === undefined || row.expires > now()) return row;
    forget(key);
    return undefined;
  }

  function forget(key: string): void {
    const shelf = rows.get(kindOf(key));
    const row = shelf?.get(key);
    if (!row) return;
    shelf?.delete(key);
    count--;
    bytes -= sizeOf(key, row.value);
  }

  function write(key: string, value: string, ttl: number): void {
    if (now() >= sweepAt) sweep();
    const kind = kindOf(key);
    // A row that is there already has its room: what stands must not fail to change because the store is full.
    if (read(key)) forget(key);
    else makeRoom(kind, sizeOf(key, value));
    const shelf = rows.get(kind) ?? new Map<string, Row>();
    rows.set(kind, shelf.set(key, { value, expires: now() + ttl * 1000 }));
    count++;
    bytes += sizeOf(key, value);
  }

  function makeRoom(kind: string, size: number): void {
    const rule = shelves[kind];
    const isFull = () => rule !== undefined && (rows.get(kind)?.size ?? 0) >= rule.most;
    const isOver = () => count + groups.size() >= maxRows || bytes + size > maxBytes;
    if (!isFull() && !isOver()) return;
    if (now() >= sweepAt - SWEEP_EVERY + SWEEP_AT_MOST_EVERY) sweep();
    while (isFull()) if (rule?.whenFull !== 'drop' || !dropOldest(kind)) throw full();
    while (isOver()) if (!Object.keys(shelves).some((name) => dropOldest(name))) throw full();
  }

  function dropOldest(kind: string): boolean {
    if (shelves[kind]?.whenFull !== 'drop') return false;
    const oldest = rows.get(kind)?.keys().next();
    if (!oldest || oldest.done) return false;
    forget(oldest.value);
    return true;
  }

  /** Without a timer: what is written pays for what has run out. */
  function sweep(): void {
    const time = now();
    sweepAt = time + SWEEP_EVERY;
    for (const shelf of rows.values()) for (const [key, row] of shelf) if (row.expires <= time) forget(key);
    groups.sweep();
  }

  return {
    async get(key) {
      const row = read(key);
      if (!row) return undefined;
      const shelf = rows.get(kindOf(key));
      if (shelves[kindOf(key)]?.whenFull === 'drop' && shelf) {
        shelf.delete(key); // now the one used last
        shelf.set(key, row);
      }
      return row.value;
    },
    has: (key) => read(key) !== undefined,
    async set(key, value, ttl) {
      write(key, value, ttl);
    },
    async add(key, value, ttl) {
      if (read(key)) return false;
      write(key, value, ttl);
      return true;
    },
    async swap(key, expected, value, ttl) {
      if (read(key)?.value !== expected) return false;
      write(key, value, ttl);
      return true;
    },
    async take(key) {
      const row = read(key);
      forget(key);
      return row?.value;
    },
    async remove(keys) {
      for (const key of keys) forget(key);
    },
    async join(group, member, ttl) {
      if (count + groups.size() >= maxRows) makeRoom(kindOf(group), 0);
      groups.join(group, member, ttl);
    },
    async leave(group, member) {
      groups.leave(group, member);
    },
    members: async (group) => groups.members(group),
    report: () => ({ rows: count + groups.size(), bytes }),
    async close() {
      rows.clear();
      groups.clear();
      count = 0;
      bytes = 0;
    },
  };
}

function kindOf(key: string): string {
  return key.slice(0, key.indexOf(':'));
}

function sizeOf(key: string, value: string): number {
  return key.length + value.length + ROW_OVERHEAD;
}

function full(): SallyError {
  return new SallyError('storage.full', 'the authorization server has no room for another row', {
    hint: 'old rows make room as they run out; a flood of requests may be under way',
  });
}
