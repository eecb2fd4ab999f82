import type { Log, Sealer } from '../base/index.ts';
import type { GatewayPlan } from '../plan/index.ts';
import type { BackendPool } from './backends/index.ts';
import type { BackendState } from './call.ts';
import { createEndpoints, MESSAGES_PATH, SSE_PATH } from './endpoint.ts';
import { createHub } from './hub/index.ts';
import type { HttpHandler } from './listener/index.ts';
import type { Memory } from './memory.ts';
import { createCredential } from './outgoing/index.ts';

export interface GatewayParts {
  readonly pool: BackendPool;
  readonly memory: Memory;
  readonly sealer: Sealer;
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
  readonly state: BackendState;
  readonly tools: number | undefined;
  readonly revision: string | undefined;
}

/** One endpoint with its backends: what a plan becomes. */
export interface Gateway {
  readonly plan: GatewayPlan;
  /** Who answers at which path. */
  readonly routes: ReadonlyMap<string, HttpHandler>;
  /** Waits until each backend has answered or failed once, or that took longer than we are patient. */
  settle(patience: Patience, stop: AbortSignal): Promise<void>;
  /** From now on this gateway serves the clients that are there, and tells them what changed. */
  takeOver(): void;
  report(): readonly BackendReport[];
  /** Lets the open calls end, at most until the signal, then lets go of the backends. Never rejects. */
  drain(signal: AbortSignal): Promise<void>;
}

export function createGateway(plan: GatewayPlan, parts: GatewayParts): Gateway {
  const leases = plan.backends.map((backend) => parts.pool.lease(backend, createCredential(backend.credential)));
  const backends = leases.map(({ backend }) => backend);
  const hub = createHub(plan, backends, parts);
  const endpoints = createEndpoints(plan, hub, { ...parts, ...parts.memory });
  let open = 0;
  let idle: (() => void) | undefined;
  let release: (() => void) | undefined;

  /** Counts what gets an answer. A GET is a stream that belongs to a session, which outlives this gateway and is not waited for. */
  function counted(handler: HttpHandler): HttpHandler {
    return (request, response) => {
      if (request.method !== 'GET') {
        open += 1;
        response.once('close', () => {
          open -= 1;
          if (open === 0) idle?.();
        });
      }
      handler(request, response);
    };
  }

  const routes = new Map(plan.paths.map((path) => [path, counted(endpoints.mcp)]));
  if (plan.aggregation.kind === 'single') {
    routes.set(SSE_PATH, counted(endpoints.sse));
    routes.set(MESSAGES_PATH, counted(endpoints.messages));
  }

  return {
    plan,

    routes,

    async settle({ own, remote }, stop) {
      const late = (limit: number): AbortSignal => AbortSignal.any([stop, AbortSignal.timeout(limit)]);
      const waits = backends.map((backend, index) => {
        const isOurs = plan.backends[index]?.target.workload !== undefined;
        return until(backend.settled(), late(isOurs ? own : remote));
      });
      await Promise.all(waits);
    },

    takeOver() {
      release = parts.memory.serveWith(hub);
    },

    report: () =>
      backends.map((backend) => ({
        name: backend.name,
        state: backend.state(),
        tools: backend.listing()?.tools.length,
        revision: backend.hello()?.revision,
      })),

    async drain(signal) {
      release?.();
      hub.retire();
      const empty = new Promise<void>((resolve) => {
        idle = resolve;
        if (open === 0) resolve();
      });
      await until(empty, signal);
      hub.close();
      const results = await Promise.allSettled(leases.map((lease) => lease.release()));
      for (const result of results) {
        if (result.status === 'rejected') parts.log.warn('a backend did not close cleanly', { error: result.reason });
      }
    },
  };
}

async function until(promise: Promise<unknown>, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  const aborted = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
  await Promise.race([promise, aborted]);
}
