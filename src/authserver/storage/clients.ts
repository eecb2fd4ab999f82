import type { AdapterPayload } from 'oidc-provider';
import { KIND } from './kinds.ts';
import type { Records } from './records.ts';

/** Registered clients. Anybody can register, so a client that never led to a login is kept apart, and not for long. */
export interface ClientRows {
  register(id: string, metadata: AdapterPayload): Promise<void>;
  find(id: string): Promise<AdapterPayload | undefined>;
  /** A login went through the client: from now on it stays as long as it is used. */
  used(id: string): Promise<void>;
  remove(id: string): Promise<void>;
}

const DAY = 24 * 60 * 60;
const IDLE = 1 * DAY;
const USED = 30 * DAY;
/** Moving the end of a client on with every token request would be a write for nothing. */
const RENEW_AFTER = 1 * DAY;

interface UsedClient {
  readonly metadata: AdapterPayload;
  readonly usedAt: number;
}

export function createClientRows(records: Records, now: () => number): ClientRows {
  const used = records.rows<UsedClient>(KIND.client);
  const idle = records.rows<AdapterPayload>(KIND.idleClient);
  const seconds = () => Math.floor(now() / 1000);
  return {
    register: (id, metadata) => idle.put(id, metadata, { ttl: IDLE }),
    find: async (id) =>
      (await used.get(id))?.metadata ??
      (await idle.get(id)) ??
      // It may have moved from the one to the other between our two looks, and never comes back.
      (await used.get(id))?.metadata,
    async used(id) {
      const known = await used.get(id);
      if (known && seconds() - known.usedAt < RENEW_AFTER) return;
      const metadata = known?.metadata ?? (await idle.get(id));
      if (!metadata) return; // configured, or vouched for by its own document
      await used.put(id, { metadata, usedAt: seconds() }, { ttl: USED });
      await idle.remove(id);
    },
    async remove(id) {
      await used.remove(id);
      await idle.remove(id);
    },
  };
}
