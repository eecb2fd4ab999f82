import type { Log } from '../base/index.ts';
import { type BackendPool, createGateway, createRouter, type Gateway, type HttpHandler } from '../gateway/index.ts';
import type { GatewayPlan } from '../plan/index.ts';

export interface GenerationParts {
  readonly pool: BackendPool;
  readonly host: string;
  readonly version: string;
  readonly log: Log;
  /** How long new gateways may take to reach their backends before they take over without those that are late. */
  readonly patience: number;
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
  const gateways = plans.map((plan) => createGateway(plan, parts));
  const enough = AbortSignal.any([stop, AbortSignal.timeout(parts.patience)]);
  await Promise.all(gateways.map((gateway) => gateway.settle(enough)));
  return {
    gateways,
    handler: createRouter(gateways, parts),
    async drain(signal) {
      await Promise.all(gateways.map((gateway) => gateway.drain(signal)));
    },
  };
}
