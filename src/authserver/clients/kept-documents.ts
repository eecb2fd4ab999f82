import { createRecent } from '../../oauth/index.ts';
import { KIND } from '../storage/kinds.ts';
import type { Records } from '../storage/records.ts';

/**
 * What was taken over from the documents of clients that somebody is logged in with. Their hosts may be down for a while, and
 * strangers may use up what we fetch at all: neither ends a login. It is not kept longer than a document could be cached.
 */
export interface KeptDocuments {
  /** It was fetched just now, for whoever asked. */
  fetched(clientId: string, metadata: object): void;
  /** Somebody got tokens through the client: what was fetched is worth keeping. */
  used(clientId: string): Promise<void>;
  find(clientId: string): Promise<object | undefined>;
}

/** Seconds. */
const KEPT = 24 * 60 * 60;
/** Documents that were fetched and not used yet. A login is over before so many others have begun. */
const MOST_FETCHED = 1_000;

export function createKeptDocuments(records: Records, now: () => number): KeptDocuments {
  const rows = records.rows<object>(KIND.clientDocument);
  const recent = createRecent<{ readonly metadata: object; readonly until: number; isKept: boolean }>(MOST_FETCHED);
  return {
    fetched(clientId, metadata) {
      recent.set(clientId, { metadata, until: now() + KEPT * 1000, isKept: false });
    },
    async used(clientId) {
      const found = recent.get(clientId);
      const left = found ? Math.floor((found.until - now()) / 1000) : 0;
      if (!found || found.isKept || left <= 0) return;
      found.isKept = true;
      await rows.put(clientId, found.metadata, { ttl: left });
    },
    find: (clientId) => rows.get(clientId),
  };
}
