import type { AuthServer } from '../authserver/index.ts';
import type { HttpHandler, Log, Sealer } from '../base/index.ts';
import {
  type Access,
  type BackendPool,
  type Checkers,
  createGateway,
  createRouter,
  type Gateway,
  type Memory,
  type Patience,
} from '../gateway/index.ts';
import type { GatewayPlan } from '../plan/index.ts';
import type { AuthServers } from './auth-servers.ts';

export interface GenerationParts {
  readonly pool: BackendPool;
  /** What the endpoint of that name remembers of its clients. */
  readonly memoryOf: (name: string, sealerFor?: (purpose: string) => Sealer) => Memory;
  readonly sealer: Sealer;
  readonly checkers: Checkers;
  readonly authServers: AuthServers;
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
  const authServers = await openAuthServers(plans, parts.authServers);
  const gateways = plans.map((plan) => {
    const authServer = authServers.get(plan);
    return createGateway(plan, {
      ...parts,
      memory: parts.memoryOf(`${plan.aggregation.kind} ${plan.name}`, authServer?.shared.sealer),
      alone: plans.length === 1,
      ...(authServer ? { authServer, sealer: authServer.shared.sealer('request-state') } : {}),
    });
  });
  async function drain(signal: AbortSignal): Promise<void> {
    await Promise.all(gateways.map((gateway) => gateway.drain(signal)));
    await Promise.all([...authServers.values()].map((server) => server.close()));
  }
  try {
    const handler = createRouter(gateways, parts); // throws when two want one path
    await Promise.all(gateways.map((gateway) => gateway.settle(parts.patience, stop)));
    return { gateways, handler, drain };
  } catch (error) {
    await drain(AbortSignal.abort());
    throw error;
  }
}

async function openAuthServers(
  plans: readonly GatewayPlan[],
  servers: AuthServers,
): Promise<ReadonlyMap<GatewayPlan, AuthServer>> {
  const opened = new Map<GatewayPlan, AuthServer>();
  try {
    for (const plan of plans) if (plan.authServer) opened.set(plan, await servers.open(plan.authServer));
    return opened;
  } catch (error) {
    await Promise.all([...opened.values()].map((server) => server.close()));
    throw error;
  }
}
