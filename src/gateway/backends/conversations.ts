import type { Params } from '../../mcp/index.ts';
import type { Call, Client } from '../call.ts';
import type { Talk, Transport } from './talk.ts';

interface Entry {
  readonly talk: Promise<Talk>;
  lastUsed: number;
}

/** Conversations that nobody used for this long are ended; a client that comes back gets a new one. */
const IDLE = 10 * 60_000;
const MAX_OPEN = 10_000;

/** What a server says to one client, outside of any call. */
export type HeardBy = (key: string, method: string, params: Params) => void;

/** The conversations with one server that belong to clients, one for each key, opened when first needed. */
export interface Conversations {
  /** `patience` gives the signal that ends the waiting for a conversation that has to be opened. */
  of(call: Call, patience: () => AbortSignal): Promise<Talk>;
  notify(key: string, method: string, params: Params): void;
  drop(key: string): void;
  close(): Promise<void>;
}

export function createConversations(transport: Transport, own: Client, heard: HeardBy): Conversations {
  const entries = new Map<string, Entry>();
  const sweep = setInterval(() => {
    const deadline = Date.now() - IDLE;
    for (const [key, { lastUsed }] of entries) if (lastUsed < deadline) drop(key);
  }, IDLE / 10).unref();

  function drop(key: string): void {
    const entry = entries.get(key);
    entries.delete(key);
    // One that never opened has nothing to close, and one that does not close cleanly is gone all the same.
    entry?.talk.then((talk) => talk.close()).catch(() => {});
  }

  function open(call: Call, signal: AbortSignal): Entry {
    const { client, identity } = call;
    const named: Client = client.info ? client : { ...client, info: own.info };
    const talk = transport.open(
      { client: named, identity, heard: (method, params) => heard(client.key, method, params), home: false },
      signal,
    );
    const entry = { talk, lastUsed: Date.now() };
    const forget = (): void => {
      if (entries.get(client.key) === entry) entries.delete(client.key);
    };
    talk.then(({ ended }) => ended.then(forget), forget);
    return entry;
  }

  return {
    of(call, patience) {
      const { key } = call.client;
      let entry = entries.get(key);
      if (!entry) {
        const [oldest] = entries.keys();
        if (entries.size >= MAX_OPEN && oldest !== undefined) drop(oldest);
        entry = open(call, patience());
        entries.set(key, entry);
      }
      entry.lastUsed = Date.now();
      return entry.talk;
    },
    notify(key, method, params) {
      entries
        .get(key)
        ?.talk.then((talk) => talk.notify(method, params))
        .catch(() => {});
    },
    drop,
    async close() {
      clearInterval(sweep);
      const open = [...entries.values()];
      entries.clear();
      await Promise.allSettled(open.map(async ({ talk }) => (await talk).close()));
    },
  };
}
