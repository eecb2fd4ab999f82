import type { Log } from '../../base/index.ts';
import { keyOf, type RedisPlan, type StoragePlan } from '../../plan/index.ts';
import { type Broadcast, createMemoryBroadcast } from './broadcast.ts';
import { createMemoryLocks, type Locks } from './locks.ts';
import type { MemoryStore } from './memory.ts';
import type { Store } from './store.ts';

/** Rows, locks and words, in this process or shared by several. */
export interface Storage {
  readonly store: Store;
  readonly locks: Locks;
  readonly broadcast: Broadcast;
  /** Connections close when nobody uses them any more. */
  release(): Promise<void>;
}

export interface StorageParts {
  /** The server whose rows they are. */
  readonly name: string;
  readonly log: Log;
}

export type OpenStorage = (plan: StoragePlan, parts: StorageParts) => Promise<Storage>;

interface Shared {
  readonly opening: Promise<Omit<Storage, 'release'>>;
  users: number;
}

/** What one authorization server stores in, over all changes of its plan: a connection that is still right stays open. */
export function createStorages(store: MemoryStore, now: () => number): OpenStorage {
  const memory = { store, locks: createMemoryLocks(now), broadcast: createMemoryBroadcast() };
  const open = new Map<string, Shared>();

  async function openRedis(plan: RedisPlan, parts: StorageParts): Promise<Storage> {
    const key = keyOf([parts.name, plan]);
    const shared = open.get(key) ?? { opening: connect(plan, parts), users: 0 };
    open.set(key, shared);
    shared.users += 1;
    let isReleased = false;
    const release = async (): Promise<void> => {
      if (isReleased) return;
      isReleased = true;
      shared.users -= 1;
      if (shared.users > 0) return;
      if (open.get(key) === shared) open.delete(key);
      const opened = await shared.opening.catch(() => undefined); // one that never opened has nothing to close
      await opened?.store.close();
    };
    try {
      return { ...(await shared.opening), release };
    } catch (error) {
      await release();
      throw error;
    }
  }

  return async (plan, parts) =>
    plan.kind === 'redis' ? await openRedis(plan, parts) : { ...memory, release: async () => {} };
}

async function connect(plan: RedisPlan, parts: StorageParts): Promise<Omit<Storage, 'release'>> {
  const { createRedisStore } = await import('./redis/index.ts');
  const store = await createRedisStore(plan, parts);
  return { store, locks: store, broadcast: store };
}
