import type { Log, Sealer } from '../base/index.ts';
import {
  type Access,
  type BackendPool,
  createGateway,
  createRouter,
  type Gateway,
  type HttpHandler,
  type Memory,
  type Patience,
} from '../gateway/index.ts';
import type { GatewayPlan } from '../plan/index.ts';

export interface GenerationParts {
  readonly pool: BackendPool;
  /** What the endpoint of that name remembers of its clients. */
  readonly memoryOf: (name: string) => Memory;
  readonly sealer: Sealer;
  readonly access: Access;
  readonly version: string;
  readonly log: Log;
  /** How long new gateways may take to reach their backends before they take over without those that are late. */
  readonly patience: Patience;
}

/** All gateways of one listener that were built from the same declaration, and that give way to the next ones together. */
export interface Generation {
  readonly gateways: readonly Gateway[];
  readonly handler: HttpHandler;
  drain(signal: AbortSignal): Promise<void>;
}

export async function startGeneration(
  plans: readonly GatewayPlan[],
  parts: GenerationParts,
  stop: AbortSignal,
): Promise<Generation> {
  const gateways = plans.map((plan) =>
    createGateway(plan, { ...parts, memory: parts.memoryOf(`${plan.aggregation.kind} ${plan.name}`) }),
  );
  await Promise.all(gateways.map((gateway) => gateway.settle(parts.patience, stop)));
  return {
    gateways,
    handler: createRouter(gateways, parts),
    async drain(signal) {
      await Promise.all(gateways.map((gateway) => gateway.drain(signal)));
    },
  };
}
