import { randomBytes } from 'node:crypto';
import { generateSigningKey, type SigningKey } from '../oauth/index.ts';
import { type Counters, createCounters, LIMITS, type Limits } from './edge/throttle.ts';
import { SHELVES } from './storage/kinds.ts';
import { createMemoryStore, type MemoryStore } from './storage/memory.ts';
import { createStorages, type OpenStorage } from './storage/storages.ts';

/**
 * What outlives a change of the plan, for one server by its name: rows in memory, and what was made up because nothing was
 * configured. It ends with the process.
 */
export interface AuthServerMemory {
  readonly store: MemoryStore;
  readonly counters: Counters;
  /** Opens what the plan says: the rows in here, or a store that is shared. */
  readonly storage: OpenStorage;
  /** A key for as long as the process lives; the same whenever it is asked for. */
  signingKey(): Promise<SigningKey>;
  secret(): Buffer;
  /** True once: the warning about what a restart will cost is not repeated with each reload. */
  firstWarning(): boolean;
}

export interface AuthServerMemoryOptions {
  readonly now?: () => number;
  readonly limits?: Limits;
}

export function createAuthServerMemory({
  now = Date.now,
  limits = LIMITS,
}: AuthServerMemoryOptions = {}): AuthServerMemory {
  let key: Promise<SigningKey> | undefined;
  let secret: Buffer | undefined;
  let warned = false;
  const store = createMemoryStore({ now, shelves: SHELVES });
  return {
    store,
    counters: createCounters(limits, now),
    storage: createStorages(store, now),
    signingKey() {
      key ??= generateSigningKey();
      return key;
    },
    secret() {
      secret ??= randomBytes(32);
      return secret;
    },
    firstWarning() {
      const first = !warned;
      warned = true;
      return first;
    },
  };
}
