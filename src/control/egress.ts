import type { RunConfig } from '../resources/index.ts';
import { findWay } from '../workloads/index.ts';
import { confinedNetworkOf, isConfined } from './confinement.ts';
import { networkFor } from './profile.ts';

/** A decision about one host and port, as the proxy of the workload would make it. */
export interface EgressAnswer {
  readonly allowed: boolean;
  readonly why: string;
  readonly address?: string;
}

export async function explainEgress(config: RunConfig, host: string, port: number): Promise<EgressAnswer> {
  if (config.remote_url !== undefined)
    return { allowed: true, why: 'the server runs elsewhere, and nothing here confines it' };
  const isProcess = config.runtime === undefined || config.runtime === 'process';
  if (isProcess && !isConfined(config))
    return { allowed: true, why: 'the server is a process of this machine, which nothing confines' };
  const network = isProcess ? confinedNetworkOf(config) : networkFor(config);
  switch (network.kind) {
    case 'none':
      return { allowed: false, why: `the ${isProcess ? 'server' : 'container'} has no network` };
    case 'open':
      return {
        allowed: true,
        why: 'the server has the network of this machine, without restrictions; --isolate-network closes it',
      };
    case 'bridge':
      return {
        allowed: true,
        why: 'the container has a network of the engine, without restrictions; --isolate-network closes it',
      };
    case 'named':
      return { allowed: true, why: `the container is on the network ${network.name}, which is not ours to restrict` };
    case 'isolated': {
      const { allowed, why, address } = await findWay(network.rules, host, port);
      return { allowed, why, ...(address === undefined ? {} : { address }) };
    }
  }
}
