/**
 * Where the authorization server keeps its rows: text under a key, for a time. Memory and Redis both can do exactly this, and
 * each operation is atomic. Whatever is stored is already keyed and sealed; a store never sees a secret it could read.
 */
export interface Store {
  get(key: string): Promise<string | undefined>;
  /** Whether there is a row. Memory answers at once: every call of a user asks whether his login still stands. */
  has(key: string): boolean | Promise<boolean>;
  /** Writes a row that lives this many seconds. */
  set(key: string, value: string, ttl: number): Promise<void>;
  /** Writes a row unless there is one, and says whether it did. */
  add(key: string, value: string, ttl: number): Promise<boolean>;
  /** Writes a row if it still has the value that was read, and says whether it did. */
  swap(key: string, expected: string, value: string, ttl: number): Promise<boolean>;
  /** Gives a row and removes it: of several takers one gets it. */
  take(key: string): Promise<string | undefined>;
  remove(keys: readonly string[]): Promise<void>;
  /** Notes a member of a group, which lives at least this many seconds longer. */
  join(group: string, member: string, ttl: number): Promise<void>;
  leave(group: string, member: string): Promise<void>;
  members(group: string): Promise<readonly string[]>;
  close(): Promise<void>;
}
