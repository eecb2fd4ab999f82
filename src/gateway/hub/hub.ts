import { type Log, SallyError, type Sealer } from '../../base/index.ts';
import type { Params } from '../../mcp/index.ts';
import type { AggregationPlan } from '../../plan/index.ts';
import type { Answer, Backend, Call, Client, ListKind } from '../call.ts';
import { createForward } from './forward.ts';
import type { Greeting } from './greeting.ts';
import { type Logins, withLogin } from './login.ts';
import { createMany } from './many.ts';
import { createSingle } from './single.ts';

export interface HubPlan {
  readonly name: string;
  readonly aggregation: AggregationPlan;
}

export interface HubParts {
  readonly version: string;
  readonly log: Log;
  readonly sealer: Sealer;
  /** Where users connect accounts that a server needs, if there is such a place. */
  readonly logins?: Logins;
}

export interface HubEvents {
  changed(kinds: ReadonlySet<ListKind>): void;
  updated(uri: string, params: Params): void;
  heard(key: string, method: string, params: Params): void;
}

/** One backend or many, as one server. */
export interface Members {
  greeting(): Greeting;
  /** Throws, at once or later, when there is no answer. */
  answer(call: Call): Promise<Answer>;
  /** The backend that has a resource. */
  ownerOf(uri: string): Backend | Promise<Backend>;
  /** What the backends list has changed. */
  changed(): void;
}

/** Where a call meets the backends. */
export interface Hub {
  greeting(): Promise<Greeting>;
  answer(call: Call): Promise<Answer>;
  notice(client: Client, method: string, params: Params): void;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
  watch(events: HubEvents): () => void;
  forget(key: string): void;
  onClose(listener: () => void): () => void;
  /** Somebody waits for news, though he may not have called for long. */
  readonly watched: boolean;
  /** Nobody new comes: those who only listen are sent away. */
  retire(): void;
  close(): void;
}

/** A client that connects before the servers do waits this long for them, in milliseconds. */
const PATIENCE = 5_000;

/** `personal` names the backends that see a credential of the user. */
export function createHub(
  plan: HubPlan,
  backends: readonly Backend[],
  parts: HubParts,
  personal: ReadonlySet<string> = new Set(),
): Hub {
  const forward = withLogin(createForward(parts.sealer, Date.now), parts.logins);
  const [only] = backends;
  const members =
    plan.aggregation.kind === 'single' && only
      ? createSingle(only, forward, parts.version, plan.aggregation.tools)
      : createMany(plan.name, backends, plan.aggregation.kind === 'many' ? plan.aggregation : undefined, forward, {
          ...parts,
          personal,
        });
  const watchers = new Set<HubEvents>();
  const closing = new Set<() => void>();
  const subscriptions = new Map<string, { readonly backend: Backend; users: number }>();

  const stops = backends.map((backend) =>
    backend.watch({
      changed(kinds) {
        members.changed();
        for (const watcher of [...watchers]) watcher.changed(new Set(kinds));
      },
      updated(uri, params) {
        for (const watcher of [...watchers]) watcher.updated(uri, params);
      },
      heard(key, method, params) {
        for (const watcher of [...watchers]) watcher.heard(key, method, params);
      },
    }),
  );

  return {
    async greeting() {
      if (backends.some((backend) => backend.state().kind === 'connecting')) {
        await Promise.race([Promise.all(backends.map((backend) => backend.settled())), delay(PATIENCE)]);
      }
      return members.greeting();
    },
    answer: (call) => members.answer(call),
    notice(client, method, params) {
      // Conversations with backends are opened by us; only what concerns the user's side of them is passed on.
      if (method === 'notifications/roots/list_changed')
        for (const backend of backends) backend.notify(client, method, params);
    },
    async subscribe(uri) {
      const backend = await members.ownerOf(uri);
      const known = subscriptions.get(uri);
      if (known) {
        known.users += 1;
        return;
      }
      const entry = { backend, users: 1 };
      subscriptions.set(uri, entry);
      try {
        await entry.backend.subscribe(uri);
      } catch (error) {
        subscriptions.delete(uri);
        throw error;
      }
    },
    unsubscribe(uri) {
      const known = subscriptions.get(uri);
      if (!known) return;
      known.users -= 1;
      if (known.users > 0) return;
      subscriptions.delete(uri);
      known.backend
        .unsubscribe(uri)
        .catch((error: unknown) => parts.log.debug('a server could not be told to stop', { uri, error }));
    },
    watch(events) {
      watchers.add(events);
      return () => watchers.delete(events);
    },
    forget(key) {
      for (const backend of backends) backend.forget(key);
    },
    onClose(listener) {
      closing.add(listener);
      return () => closing.delete(listener);
    },
    get watched() {
      return closing.size > 0 || subscriptions.size > 0;
    },
    retire() {
      for (const listener of closing) listener();
      closing.clear();
    },
    close() {
      for (const stop of stops) stop();
      for (const [uri, { backend }] of subscriptions) backend.unsubscribe(uri).catch(() => {});
      subscriptions.clear();
      watchers.clear();
    },
  };
}

export function unknownResource(uri: string): SallyError {
  return new SallyError('call.unknown_resource', `Resource not found: ${uri}`, { data: { uri } });
}

function delay(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds).unref());
}
