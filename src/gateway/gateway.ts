import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../base/index.ts';
import type { GatewayPlan } from '../plan/index.ts';
import type { BackendPool } from './backends/index.ts';
import type { BackendState } from './call.ts';
import { createEndpoint } from './endpoint.ts';
import { createHub } from './hub/index.ts';
import { createCredential } from './outgoing/index.ts';

export interface GatewayParts {
  readonly pool: BackendPool;
  readonly host: string;
  readonly version: string;
  readonly log: Log;
}

export interface BackendReport {
  readonly name: string;
  readonly state: BackendState;
}

/** One endpoint with its backends: what a plan becomes. */
export interface Gateway {
  readonly plan: GatewayPlan;
  handle(request: IncomingMessage, response: ServerResponse): void;
  /** Waits until each backend has answered or failed once, or the signal says that it took long enough. */
  settle(signal: AbortSignal): Promise<void>;
  report(): readonly BackendReport[];
  /** Lets the open calls end, at most until the signal, then lets go of the backends. Never rejects. */
  drain(signal: AbortSignal): Promise<void>;
}

export function createGateway(plan: GatewayPlan, parts: GatewayParts): Gateway {
  const leases = plan.backends.map((backend) => parts.pool.lease(backend, createCredential(backend.credential)));
  const backends = leases.map(({ backend }) => backend);
  const endpoint = createEndpoint(plan, createHub(plan, backends, parts), parts);
  let open = 0;
  let idle: (() => void) | undefined;

  return {
    plan,

    handle(request, response) {
      open += 1;
      response.once('close', () => {
        open -= 1;
        if (open === 0) idle?.();
      });
      endpoint(request, response);
    },

    settle: (signal) => until(Promise.all(backends.map((backend) => backend.settled())), signal),

    report: () => backends.map((backend) => ({ name: backend.name, state: backend.state() })),

    async drain(signal) {
      const empty = new Promise<void>((resolve) => {
        idle = resolve;
        if (open === 0) resolve();
      });
      await until(empty, signal);
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
