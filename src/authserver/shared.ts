import { createSealer, type Sealer } from '../base/index.ts';
import type { AuthServerPlan } from '../plan/index.ts';
import type { ServerSecrets } from './secrets.ts';
import type { Records } from './storage/records.ts';

/** Rows of somebody else in the store of the authorization server, sealed as ours are. */
export interface SharedRows<T> {
  put(id: string, row: T): Promise<void>;
  get(id: string): Promise<T | undefined>;
  remove(id: string): Promise<void>;
}

/** What all processes of one server have in common, for the gateway beside it. */
export interface Shared {
  /** Rows that live this many seconds; none where nothing is shared. */
  rows<T>(kind: string, ttl: number): SharedRows<T> | undefined;
  /** What one process seals another one opens, as long as both have the same secrets. */
  sealer(purpose: string): Sealer;
}

export function createShared({ storage }: AuthServerPlan, records: Records, secrets: ServerSecrets): Shared {
  return {
    rows<T>(kind: string, ttl: number): SharedRows<T> | undefined {
      if (storage.kind === 'memory') return undefined;
      const { put, get, remove } = records.rows<T>(kind);
      return { put: (id, row) => put(id, row, { ttl }), get, remove };
    },
    sealer(purpose) {
      const [newest, ...older] = secrets.derive('sealed states').map((key) => createSealer(key, purpose));
      if (!newest) throw new TypeError('there is always a secret');
      return {
        seal: newest.seal,
        open: (text) => [newest, ...older].map((sealer) => sealer.open(text)).find((opened) => opened !== undefined),
      };
    },
  };
}
