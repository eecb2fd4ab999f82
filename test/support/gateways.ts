import { randomBytes } from 'node:crypto';
import { createSealer, type Log, type Route, silentLog } from '../../src/base/index.ts';
import {
  type Access,
  createBackendPool,
  createCheckers,
  createGateway,
  createMemory,
  createRouter,
  type GatewayParts,
  listen,
  routesOf,
} from '../../src/gateway/index.ts';
import type { GatewayPlan, IncomingPlan } from '../../src/plan/index.ts';

export interface Gateways extends AsyncDisposable {
  readonly url: URL;
  readonly routes: readonly Route[];
}

export interface GatewayOptions {
  readonly access?: Partial<Access>;
  readonly log?: Log;
  readonly authServer?: GatewayParts['authServer'];
  /** A free one when left out. */
  readonly port?: number;
}

/** Gateways on a listener of their own inside the test, for what cannot be reached from outside: their routes and parts. */
export async function startGateways(plans: readonly GatewayPlan[], options: GatewayOptions = {}): Promise<Gateways> {
  const log = options.log ?? silentLog;
  const access = {
    host: '127.0.0.1',
    allowedHosts: [],
    allowedOrigins: [],
    trustProxyHeaders: false,
    ...options.access,
  };
  const pool = createBackendPool({ startWorkload: noWorkloads, version: '0', log });
  const sealer = createSealer(randomBytes(32), 'test');
  const memories = plans.map(() => createMemory(sealer));
  const checkers = createCheckers({ log, now: Date.now });
  const gateways = plans.map((plan, index) =>
    createGateway(plan, {
      pool,
      memory: memories[index] as (typeof memories)[number],
      sealer,
      checkers,
      access,
      alone: plans.length === 1,
      version: '0',
      log,
      ...(options.authServer ? { authServer: options.authServer } : {}),
    }),
  );
  const router = createRouter(gateways, { access, log });
  const listener = await listen('127.0.0.1', options.port ?? 0);
  listener.hand(router);
  return {
    url: new URL(listener.url),
    routes: routesOf(gateways),
    async [Symbol.asyncDispose]() {
      await listener.close(AbortSignal.abort());
      await Promise.all(gateways.map((gateway) => gateway.drain(AbortSignal.abort())));
      for (const memory of memories) memory.close();
      await pool.close();
    },
  };
}

/** A virtual server without backends: it answers, and has nothing to offer. */
export function emptyPlan(name: string, incoming: IncomingPlan, paths: GatewayPlan['paths'] = ['/mcp']): GatewayPlan {
  return {
    name,
    paths,
    incoming,
    backends: [],
    aggregation: {
      kind: 'many',
      conflicts: { kind: 'prefix', format: '{workload}_' },
      tools: new Map(),
      offerOthers: true,
      offerNone: false,
    },
  };
}

function noWorkloads(): never {
  throw new Error('there is nothing to start');
}
