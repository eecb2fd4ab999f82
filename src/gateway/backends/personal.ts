import { type BackendLease, type BackendSource, type Identity, ownerOf } from '../call.ts';
import type { ConnectedBackend } from './backend.ts';

/** How long the connection of somebody who left is kept for his return, in milliseconds. */
const LINGER = 60_000;

interface Entry {
  readonly backend: ConnectedBackend;
  /** The newest form of him. */
  readonly latest: { identity: Identity };
  users: number;
  leaving: NodeJS.Timeout | undefined;
}

/** A server that sees a credential of the user: one connection for each login, so that nothing of one is ever shown to another. */
export interface Personal {
  /** As one gateway uses it: `timeout` is its own. */
  source(timeout: number): BackendSource;
  close(): Promise<void>;
}

export function createPersonal(name: string, open: (identity: () => Identity) => ConnectedBackend): Personal {
  const entries = new Map<string, Entry>();

  function entryFor(identity: Identity): Entry {
    const owner = ownerOf(identity);
    const known = entries.get(owner);
    if (known) return known;
    const latest = { identity };
    const entry: Entry = { backend: open(() => latest.identity), latest, users: 0, leaving: undefined };
    entries.set(owner, entry);
    return entry;
  }

  function release(entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0) return;
    entry.leaving = setTimeout(() => {
      entries.delete(ownerOf(entry.latest.identity));
      // Nobody uses it any more; how it ends is nobody's concern.
      entry.backend.close().catch(() => {});
    }, LINGER).unref();
  }

  return {
    source: (timeout) => ({
      name,
      personal: true,
      lease(identity): BackendLease {
        const entry = entryFor(identity);
        clearTimeout(entry.leaving);
        entry.users += 1;
        let released = false;
        return {
          backend: {
            ...entry.backend,
            request: (call, method, params) => entry.backend.request(call, method, params, timeout),
          },
          seen(latest) {
            entry.latest.identity = latest;
          },
          release() {
            if (!released) release(entry);
            released = true;
          },
        };
      },
    }),
    async close() {
      const open = [...entries.values()];
      entries.clear();
      for (const { leaving } of open) clearTimeout(leaving);
      await Promise.all(open.map(({ backend }) => backend.close()));
    },
  };
}
