import type { Params } from '../../mcp/index.ts';
import { type BackendSource, type Identity, type ListKind, ownerOf } from '../call.ts';
import { createHub, type Hub, type HubParts, type HubPlan } from './hub.ts';

/** What happens behind one endpoint, and to whom it matters: one owner, or everybody. */
export interface HubsEvents {
  changed(kinds: ReadonlySet<ListKind>, owner: string | undefined): void;
  updated(uri: string, params: Params, owner: string | undefined): void;
  heard(key: string, method: string, params: Params): void;
  /** The servers of this owner are there now; whoever waits for news of them may ask. */
  opened(owner: string): void;
}

/** The servers behind one endpoint, as each caller sees them. */
export interface Hubs {
  of(identity: Identity): Hub;
  /** What callers of this owner have right now, if they have anything. */
  known(owner: string): Hub | undefined;
  watch(events: HubsEvents): () => void;
  /** A login has ended: what was opened with its credentials is closed. */
  forget(grant: string): void;
  /** Nobody new comes: those who only listen are sent away. */
  retire(): void;
  close(): void;
}

/** One for all where no server sees a credential of the user; otherwise each login has its own. */
export function createHubs(plan: HubPlan, sources: readonly BackendSource[], parts: HubParts): Hubs {
  return sources.some(({ personal }) => personal)
    ? createPersonalHubs(plan, sources, parts)
    : createCommonHub(plan, sources, parts);
}

const NOBODY: Identity = { kind: 'anonymous' };

function createCommonHub(plan: HubPlan, sources: readonly BackendSource[], parts: HubParts): Hubs {
  const leases = sources.map((source) => source.lease(NOBODY));
  const hub = createHub(
    plan,
    leases.map(({ backend }) => backend),
    parts,
  );
  return {
    of: () => hub,
    known: () => hub,
    watch: (events) =>
      hub.watch({
        changed: (kinds) => events.changed(kinds, undefined),
        updated: (uri, params) => events.updated(uri, params, undefined),
        heard: events.heard,
      }),
    forget() {}, // nothing in it belongs to a login
    retire: () => hub.retire(),
    close() {
      hub.close();
      for (const lease of leases) lease.release();
    },
  };
}

/** Servers of somebody who has not called for this long are let go, in milliseconds. */
const IDLE = 15 * 60_000;
const MAX_OWNERS = 10_000;

interface Entry {
  readonly hub: Hub;
  readonly grant: string | undefined;
  lastUsed: number;
  seen(identity: Identity): void;
  close(): void;
}

function createPersonalHubs(plan: HubPlan, sources: readonly BackendSource[], parts: HubParts): Hubs {
  // A Map keeps the order of insertion, and an owner who calls moves to the end: the longest silent stand first.
  const entries = new Map<string, Entry>();
  const watchers = new Set<HubsEvents>();
  const personal = new Set(sources.filter((source) => source.personal).map(({ name }) => name));
  const sweep = setInterval(dropIdle, IDLE / 15).unref();

  function dropIdle(): void {
    const deadline = Date.now() - IDLE;
    for (const [owner, entry] of entries) {
      if (entry.lastUsed > deadline) return;
      if (!entry.hub.watched) drop(owner, entry);
    }
  }

  function drop(owner: string, entry: Entry): void {
    entries.delete(owner);
    entry.close();
  }

  function open(owner: string, identity: Identity): Entry {
    const leases = sources.map((source) => source.lease(identity));
    const hub = createHub(
      plan,
      leases.map(({ backend }) => backend),
      parts,
      personal,
    );
    hub.watch({
      changed(kinds) {
        for (const watcher of watchers) watcher.changed(kinds, owner);
      },
      updated(uri, params) {
        for (const watcher of watchers) watcher.updated(uri, params, owner);
      },
      heard(key, method, params) {
        for (const watcher of watchers) watcher.heard(key, method, params);
      },
    });
    return {
      hub,
      grant: identity.kind === 'user' ? identity.grant : undefined,
      lastUsed: 0,
      seen(latest) {
        for (const lease of leases) lease.seen(latest);
      },
      close() {
        hub.retire();
        hub.close();
        for (const lease of leases) lease.release();
      },
    };
  }

  return {
    of(identity) {
      const owner = ownerOf(identity);
      const known = entries.get(owner);
      if (known) entries.delete(owner);
      const entry = known ?? open(owner, identity);
      entries.set(owner, entry);
      entry.lastUsed = Date.now();
      entry.seen(identity);
      if (known) return entry.hub;
      const [longest] = entries;
      if (entries.size > MAX_OWNERS && longest) drop(...longest);
      for (const watcher of watchers) watcher.opened(owner);
      return entry.hub;
    },
    known: (owner) => entries.get(owner)?.hub,
    watch(events) {
      watchers.add(events);
      return () => watchers.delete(events);
    },
    forget(grant) {
      for (const [owner, entry] of [...entries]) if (entry.grant === grant) drop(owner, entry);
    },
    retire() {
      for (const { hub } of entries.values()) hub.retire();
    },
    close() {
      clearInterval(sweep);
      for (const [owner, entry] of [...entries]) drop(owner, entry);
      watchers.clear();
    },
  };
}
