import { SallyError } from '../base/index.ts';
import type { RunConfig } from '../resources/index.ts';
import type { ConfinedNetwork } from '../workloads/index.ts';
import { networkFor } from './profile.ts';

/** What walls around a process are made of. Where one of these is said, it gets them or does not run. */
export const CONFINING = [
  ...['permission_profile', 'permission_profile_name_or_path', 'isolate_network', 'allow_docker_gateway'],
  ...['network', 'volumes'],
] as const satisfies readonly string[] as readonly (keyof RunConfig)[];

/** Whether somebody asked for less than a process gets by itself. */
export function isConfined(config: RunConfig): boolean {
  return CONFINING.some((field) => {
    const said = config[field];
    return Array.isArray(said) ? said.length > 0 : said !== undefined && said !== false;
  });
}

/** How a confined process reaches the world, by the same rules as a container. */
export function confinedNetworkOf(config: RunConfig): ConfinedNetwork {
  const network = networkFor(config);
  switch (network.kind) {
    case 'none':
    case 'isolated':
      return network;
    case 'bridge':
      return { kind: 'open' };
    case 'named':
      throw new SallyError('config.unsupported', `a process cannot join the network ${network.name} of an engine`, {
        hint: 'leave out --network, or use --network none',
      });
  }
}
