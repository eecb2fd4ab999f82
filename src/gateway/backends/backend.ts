import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, type Log, SallyError, toSallyError } from '../../base/index.ts';
import { type HeaderParam, headerParamsOf, type Params } from '../../mcp/index.ts';
import {
  type Answer,
  type Backend,
  type BackendEvents,
  type BackendState,
  type Call,
  type Identity,
  LIST_KINDS,
  type Listing,
  type ListKind,
  read,
} from '../call.ts';
import { Attempt } from './attempt.ts';
import { type BreakerPlan, createBreaker } from './breaker.ts';
import { createConversations } from './conversations.ts';
import { type HealthPlan, untilUnhealthy } from './health.ts';
import { differing, EMPTY_LISTING, kindsOf, readListing } from './listing.ts';
import { type Asking, GATEWAY_IDENTITY, gatewayClient, OwnCall } from './own-call.ts';
import type { HeaderParamsOf, Talk, Transport } from './talk.ts';

export interface ConnectedBackend extends Omit<Backend, 'request'> {
  /** Sends a request for a call; `limit` is how long it may take without a word, in milliseconds. */
  request(call: Call, method: string, params: Params, limit: number): Promise<Answer>;
  close(): Promise<void>;
}

export interface BackendOptions {
  readonly name: string;
  readonly breaker: BreakerPlan;
  readonly health: HealthPlan;
  readonly version: string;
  readonly log: Log;
  /** Whom the conversation that lists is held for, where that makes a difference: the newest form of him. */
  readonly identity?: () => Identity;
}

/** How long opening a conversation may take: a package runner may have to download the server first. */
const CONNECT_TIMEOUT = 180_000;
/** How long a caller waits for a conversation that is being opened. */
const PATIENCE = 10_000;
const LIST_TIMEOUT = 30_000;
/** A server that changes all the time is asked this often at most. */
const REFRESH_PAUSE = 200;
const FIRST_RETRY = 500;
const LAST_RETRY = 30_000;

/**
 * One server: the gateway's own conversation with it, through which we know what it offers, and the conversations of
 * clients where the server keeps state for each. The own one is opened at once, and again whenever it breaks.
 */
export function createBackend(
  options: BackendOptions,
  connect: (headerParamsOf: HeaderParamsOf) => Transport,
): ConnectedBackend {
  const { name, log, identity = () => GATEWAY_IDENTITY } = options;
  const own = gatewayClient(options.version);
  const closing = new AbortController();
  const settled = Promise.withResolvers<void>();
  const watchers = new Set<BackendEvents>();
  const breaker = createBreaker(options.breaker, Date.now);
  const subscriptions = new Set<string>();
  const headerParams = new Map<string, readonly HeaderParam[]>();
  let state: BackendState = { kind: 'connecting' };
  let home: Talk | undefined;
  let waiting: PromiseWithResolvers<Talk>;
  let listing: Listing | undefined;
  let retryNow = new AbortController();
  let refreshing = false;
  const stale = new Set<ListKind>();

  const transport = connect((tool) => headerParams.get(tool) ?? NO_PARAMS);
  const conversations = createConversations(transport, own, (key, method, params) => {
    for (const watcher of watchers) watcher.heard(key, method, params);
  });
  startOver();
  const running = keepOpen();

  function asking(): Asking {
    return { client: own, identity: identity() };
  }

  async function keepOpen(): Promise<void> {
    for (let failures = 0; !closing.signal.aborted; ) {
      try {
        const talk = await openHome();
        failures = 0;
        home = talk;
        breaker.succeeded();
        become({ kind: 'ready' });
        log.info('backend connected', { backend: name, revision: talk.hello.revision, tools: listing?.tools.length });
        waiting.resolve(talk);
        const watching = new AbortController();
        const unhealthy = untilUnhealthy(name, talk, asking, options.health, watching.signal);
        const reason = await Promise.race([talk.ended, unhealthy, aborted(closing.signal)]);
        watching.abort();
        if (closing.signal.aborted) return;
        log.warn('backend connection ended, opening it again', { backend: name, error: reason });
        home = undefined;
        state = { kind: 'connecting' };
        startOver();
      } catch (thrown) {
        if (closing.signal.aborted) return;
        failures += 1;
        const error = toSallyError(thrown);
        // That somebody has not logged in is no trouble of the server's, nor of whoever runs us.
        const isTrouble = failures === 1 && error.code !== 'outgoing.login_needed';
        log[isTrouble ? 'error' : 'debug']('backend does not connect', { backend: name, error, hint: error.hint });
        home = undefined;
        waiting.reject(error);
        startOver();
        become({ kind: 'down', error, since: state.kind === 'down' ? state.since : Date.now() });
        retryNow = new AbortController();
        const pause = Math.min(FIRST_RETRY * 2 ** (failures - 1), LAST_RETRY);
        await sleep(pause, undefined, { signal: AbortSignal.any([closing.signal, retryNow.signal]) }).catch(() => {});
      }
    }
  }

  async function openHome(): Promise<Talk> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(CONNECT_TIMEOUT)]);
    const talk = await transport.open({ client: own, identity: identity(), heard, home: true }, signal);
    try {
      take(await readListing(name, talk, asking(), LIST_KINDS, signal));
      for (const uri of subscriptions) await watchResource(talk, uri, 'resources/subscribe');
      return talk;
    } catch (error) {
      await talk.close();
      throw error;
    }
  }

  function heard(method: string, params: Params): void {
    const kinds = kindsOf(method);
    if (kinds.length > 0) void refresh(kinds);
    if (method === 'notifications/resources/updated' && typeof params.uri === 'string') {
      for (const watcher of watchers) watcher.updated(params.uri, params);
    }
  }

  /**
   * A server that says something changed is asked again; if that fails the last good list stays. One that says it all the time is
   * asked once, and once more when that is done.
   */
  async function refresh(kinds: readonly ListKind[]): Promise<void> {
    for (const kind of kinds) stale.add(kind);
    if (refreshing) return;
    refreshing = true;
    while (stale.size > 0 && home && !closing.signal.aborted) {
      const asked = [...stale];
      stale.clear();
      try {
        take(
          await readListing(
            name,
            home,
            asking(),
            asked,
            AbortSignal.any([closing.signal, AbortSignal.timeout(LIST_TIMEOUT)]),
          ),
        );
      } catch (error) {
        log.warn('backend changed but cannot be listed, the last list stays', { backend: name, error });
      }
      if (stale.size > 0) await sleep(REFRESH_PAUSE, undefined, { ref: false });
    }
    refreshing = false;
  }

  function take(lists: Partial<Listing>): void {
    const before = listing ?? EMPTY_LISTING;
    listing = { ...before, ...lists };
    const changed = differing(before, listing);
    if (changed.includes('tools')) {
      headerParams.clear();
      for (const tool of listing.tools)
        headerParams.set(String(tool.name), headerParamsOf(tool.inputSchema) ?? NO_PARAMS);
    }
    if (changed.length > 0) for (const watcher of watchers) watcher.changed(changed);
  }

  function become(next: BackendState): void {
    state = next;
    settled.resolve();
  }

  function startOver(): void {
    waiting = Promise.withResolvers();
    waiting.promise.catch(() => {}); // nobody may be waiting
  }

  /** The gateway's own conversation. While it is being opened callers wait a little; while the server is down they are told at once. */
  async function current(): Promise<Talk> {
    if (home) return home;
    if (state.kind === 'down') {
      retryNow.abort();
      // A login may have been made since: whoever calls now has come back to use it.
      if (!isOfCredential(state.error)) throw unavailable(state.error);
    }
    return await Promise.race([
      waiting.promise,
      sleep(PATIENCE, undefined, { ref: false }).then(() => Promise.reject(unavailable(undefined))),
    ]);
  }

  /** One conversation serves every client: the revision keeps no state, or there is only one process. */
  function isShared({ hello }: Talk): boolean {
    return hello.era === 'modern' || transport.shared;
  }

  async function talkFor(call: Call): Promise<Talk> {
    const talk = home ?? (await current());
    if (isShared(talk)) return talk;
    return await conversations.of(call, patience);
  }

  /** Made only for a conversation that is opened: a signal is dear, and lives until its time is up. */
  function patience(): AbortSignal {
    return AbortSignal.any([closing.signal, AbortSignal.timeout(PATIENCE)]);
  }

  /** Callers learn which server is away; why it is away may name inner addresses and stays in the log. */
  function unavailable(cause: unknown): SallyError {
    return new SallyError('backend.unreachable', `the server ${name} is not available right now`, { cause });
  }

  async function watchResource(
    talk: Talk,
    uri: string,
    method: 'resources/subscribe' | 'resources/unsubscribe',
  ): Promise<void> {
    if (talk.subscribe) return await talk.subscribe([...subscriptions]);
    const call = new OwnCall(method, { uri }, identity(), own, AbortSignal.timeout(LIST_TIMEOUT));
    const told = read(await talk.request(call, method, { uri }));
    if ('error' in told) throw new SallyError('call.unknown_resource', told.error.message, { data: { uri } });
  }

  function attempt(call: Call, method: string, params: Params): Promise<Answer> {
    return home && isShared(home) ? home.request(call, method, params) : attemptAlone(call, method, params);
  }

  /** In a conversation of the client's own, which the server may have forgotten. */
  async function attemptAlone(call: Call, method: string, params: Params): Promise<Answer> {
    try {
      return await (await talkFor(call)).request(call, method, params);
    } catch (error) {
      if (codeOf(error) !== 'backend.session_lost') throw error;
      conversations.drop(call.client.key);
      // Asking again is safe for everything but a tool, which may already have done its work.
      if (method === 'tools/call') throw error;
      return await (await talkFor(call)).request(call, method, params);
    }
  }

  return {
    name,
    listing: () => listing,
    hello: () => home?.hello,
    state: () =>
      breaker.open && state.kind === 'ready' ? { kind: 'down', error: tripped(name), since: Date.now() } : state,
    settled: () => settled.promise,
    async lookAgain() {
      if (state.kind !== 'down' || !isOfCredential(state.error)) return;
      retryNow.abort();
      await waiting.promise.catch(() => {}); // still missing, as the state says
    },

    async request(call, method, params, limit) {
      if (!breaker.admits()) throw tripped(name);
      const bounded = new Attempt(call, name, limit);
      try {
        const answer = await attempt(bounded, method, params);
        breaker.succeeded();
        return answer;
      } catch (error) {
        if (call.cancelled) throw call.cancelled;
        const code = codeOf(error);
        if (bounded.late || code?.startsWith('fetch.') || code?.startsWith('workload.')) breaker.failed();
        if (code?.startsWith('backend.') || code?.startsWith('call.') || isOfCredential(error)) throw error;
        throw unavailable(error);
      } finally {
        bounded.done();
      }
    },

    notify: (client, method, params) => conversations.notify(client.key, method, params),

    async subscribe(uri) {
      subscriptions.add(uri);
      try {
        await watchResource(await current(), uri, 'resources/subscribe');
      } catch (error) {
        subscriptions.delete(uri);
        throw error;
      }
    },

    async unsubscribe(uri) {
      if (subscriptions.delete(uri) && home) await watchResource(home, uri, 'resources/unsubscribe');
    },

    watch(events) {
      watchers.add(events);
      return () => watchers.delete(events);
    },

    forget: (key) => conversations.drop(key),

    async close() {
      closing.abort();
      await conversations.close();
      await home?.close();
      await transport.close();
      await running;
      state = {
        kind: 'down',
        error: new SallyError('listener.draining', `the server ${name} is being stopped`),
        since: Date.now(),
      };
    },
  };
}

const NO_PARAMS: readonly HeaderParam[] = [];

/** The server is not to blame: we have no credential to show it, or the store that has one is away. */
function isOfCredential(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  return code.startsWith('outgoing.') || code.startsWith('storage.');
}

function tripped(name: string): SallyError {
  return new SallyError('backend.unreachable', `the server ${name} failed too often and is left alone for a while`);
}

function aborted(signal: AbortSignal): Promise<unknown> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
}
