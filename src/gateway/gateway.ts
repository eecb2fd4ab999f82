import type { HttpHandler, Log, Route, Sealer } from '../base/index.ts';
import type { GatewayPlan } from '../plan/index.ts';
import type { BackendPool, Lease } from './backends/index.ts';
import type { BackendState, Identity, UpstreamTokens } from './call.ts';
import type { SessionRow } from './clients/index.ts';
import { createEndpoints, MESSAGES_PATH, SSE_PATH } from './endpoint.ts';
import { createEntrance } from './entrance.ts';
import { createHubs, type HubParts } from './hub/index.ts';
import type { Checkers, OwnTokens } from './incoming/index.ts';
import type { Access } from './listener/index.ts';
import type { Memory } from './memory.ts';
import { createCredential } from './outgoing/index.ts';
import { createStanding } from './standing.ts';

export interface GatewayParts {
  readonly pool: BackendPool;
  readonly memory: Memory;
  readonly sealer: Sealer;
  readonly checkers: Checkers;
  readonly access: Access;
  /** No other gateway shares the listener. */
  readonly alone: boolean;
  /** The authorization server that runs in this process for this gateway. */
  readonly authServer?: {
    readonly issuer: string;
    /** Names by which browsers and clients call it. */
    readonly hosts: readonly string[];
    readonly routes: readonly Route[];
    readonly tokens: OwnTokens;
    readonly upstreamTokens?: UpstreamTokens;
    /** What all processes that serve this endpoint have in common. */
    readonly shared?: {
      rows<T>(kind: string, ttl: number): SharedRows<T> | undefined;
    };
    /** A page on which the user of a login connects his account at one more provider. */
    readonly connect?: (grantId: string, provider: string) => Promise<string | undefined>;
  };
  readonly version: string;
  readonly log: Log;
}

/** How long to wait for backends before doing without them, in milliseconds. */
export interface Patience {
  /** For servers that we start ourselves. */
  readonly own: number;
  /** For servers elsewhere: they run already, or they do not. */
  readonly remote: number;
}

export interface BackendReport {
  readonly name: string;
  /** `personal`: each user has a connection of his own, and there is none before he calls; `down` then is the process. */
  readonly state: BackendState | { readonly kind: 'personal' };
  readonly tools: number | undefined;
  readonly revision: string | undefined;
}

/** One endpoint with its backends: what a plan becomes. */
export interface Gateway {
  readonly plan: GatewayPlan;
  /** Who answers at which path, and to whom. */
  readonly routes: readonly Route[];
  /** Names by which clients call it, besides those of the listener. */
  readonly hosts: readonly string[];
  /** Waits until each backend has answered or failed once, or that took longer than we are patient. */
  settle(patience: Patience, stop: AbortSignal): Promise<void>;
  /** From now on this gateway serves the clients that are there, and tells them what changed. */
  takeOver(): void;
  report(): readonly BackendReport[];
  /** Lets the open calls end, at most until the signal, then lets go of the backends. Never rejects. */
  drain(signal: AbortSignal): Promise<void>;
}

interface SharedRows<T> {
  put(id: string, row: T): Promise<void>;
  get(id: string): Promise<T | undefined>;
  remove(id: string): Promise<void>;
}

const NOBODY: Identity = { kind: 'anonymous' };
/** A little longer than a silent session lives in a process, in seconds. */
const SESSION_KEPT = 40 * 60;

export function createGateway(plan: GatewayPlan, parts: GatewayParts): Gateway {
  const { authServer } = parts;
  const leases = plan.backends.map((backend) => ({
    ...parts.pool.lease(
      backend,
      (upstreamTokens) => createCredential(backend.credential, { upstreamTokens, now: Date.now }),
      authServer,
    ),
    isOurs: backend.target.workload !== undefined,
  }));
  const hubs = createHubs(
    plan,
    leases.map(({ source }) => source),
    { ...parts, ...loginsOf(plan, authServer) },
  );
  /** Those that are there before anybody calls. */
  const common = leases.map((lease) => ({
    ...lease,
    name: lease.source.name,
    backend: lease.source.personal ? undefined : lease.source.lease(NOBODY).backend,
  }));
  const entrance = createEntrance(plan, { ...parts, ...(authServer ? { ownTokens: authServer.tokens } : {}) });
  const standing = createStanding(Date.now);
  const sessionRows = authServer?.shared?.rows<SessionRow>('client-session', SESSION_KEPT);
  const endpoints = createEndpoints(plan, hubs, {
    ...parts,
    ...parts.memory,
    entrance,
    standing,
    ...(sessionRows ? { sessionRows } : {}),
  });
  const stopListening = authServer?.tokens.onEnded?.((grant) => {
    standing.end(grant);
    hubs.forget(grant);
  });
  let open = 0;
  let idle: (() => void) | undefined;
  let release: (() => void) | undefined;

  /** Counts what gets an answer. A GET is a stream that belongs to a session, which outlives this gateway and is not waited for. */
  function counted(handler: HttpHandler): HttpHandler {
    return (request, response) => {
      if (request.method !== 'GET') {
        open += 1;
        response.on('close', () => {
          open -= 1;
          if (open === 0) idle?.();
        });
      }
      handler(request, response);
    };
  }

  const authentication = plan.incoming.kind === 'anonymous' ? 'none' : 'caller';
  const serve = (path: string, handler: HttpHandler): Route => ({
    path,
    authentication,
    pages: 'own',
    handler: counted(handler),
  });
  const isSingle = plan.aggregation.kind === 'single' && !plan.postOnly;
  const routes = [
    ...plan.paths.map((path) => serve(path, endpoints.mcp)),
    ...(isSingle ? [serve(SSE_PATH, endpoints.sse), serve(MESSAGES_PATH, endpoints.messages)] : []),
    ...entrance.routesFor(isSingle ? [...plan.paths, SSE_PATH] : plan.paths),
    ...(authServer?.routes ?? []),
  ];

  return {
    plan,

    routes,

    hosts: [...entrance.hosts, ...(authServer?.hosts ?? [])],

    async settle({ own, remote }, stop) {
      const late = (limit: number): AbortSignal => AbortSignal.any([stop, AbortSignal.timeout(limit)]);
      const waits = common.map(async ({ backend, isOurs, listening }) => {
        const signal = late(isOurs ? own : remote);
        await until(backend ? backend.settled() : listening(signal), signal);
      });
      await Promise.all(waits);
    },

    takeOver() {
      release = parts.memory.serveWith(hubs);
    },

    report: () =>
      common.map(({ name, backend, failure }) => ({
        name,
        state: backend?.state() ?? stateOf(failure()),
        tools: backend?.listing()?.tools.length,
        revision: backend?.hello()?.revision,
      })),

    async drain(signal) {
      release?.();
      hubs.retire();
      const empty = new Promise<void>((resolve) => {
        idle = resolve;
        if (open === 0) resolve();
      });
      await until(empty, signal);
      stopListening?.();
      hubs.close();
      await entrance.close();
      const results = await Promise.allSettled(leases.map((lease) => lease.release()));
      for (const result of results) {
        if (result.status === 'rejected') parts.log.warn('a backend did not close cleanly', { error: result.reason });
      }
    },
  };
}

/** Where users have connections of their own, only the process that they share can be down for all of them. */
function stateOf(failure: ReturnType<Lease['failure']>): BackendReport['state'] {
  return failure ? { kind: 'down', ...failure } : { kind: 'personal' };
}

/** A page for one more login belongs to a login that stands; callers with other tokens have none. */
function loginsOf(plan: GatewayPlan, authServer: GatewayParts['authServer']): Pick<HubParts, 'logins'> {
  const connect = authServer?.connect;
  if (!connect) return {};
  const visited = new Set(plan.authServer?.providers.filter(({ required }) => required).map(({ name }) => name));
  return {
    logins: {
      connectUrl: async (identity, provider) =>
        identity.kind === 'user' && identity.grant !== undefined ? await connect(identity.grant, provider) : undefined,
      isVisited: (provider) => visited.has(provider),
    },
  };
}

async function until(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([promise, aborted]);
}
