import { SallyError } from '../../base/index.ts';
import type { PermissionProfile } from '../../resources/index.ts';
import type { ContainerNetwork, PublishedPort } from '../launch.ts';
import type { EgressRules } from './egress.ts';

function profile(name: string, all: boolean): PermissionProfile {
  const outbound = { insecure_allow_all: all, allow_host: [], allow_port: [] };
  return { name, read: [], write: [], privileged: false, network: { outbound } };
}

/** The profiles that have a name. Where none is chosen, `network` counts. */
export const BUILT_IN: Readonly<Record<'none' | 'network', PermissionProfile>> = {
  none: profile('none', false),
  network: profile('network', true),
};

export function isBuiltIn(name: string): name is keyof typeof BUILT_IN {
  return name === 'none' || name === 'network';
}

/** What a profile allows. Where it says nothing about the network, that is nothing. */
export function egressOf({ network }: PermissionProfile, gateway: boolean): EgressRules {
  const said = network?.outbound;
  return {
    all: said?.insecure_allow_all ?? false,
    hosts: said?.allow_host ?? [],
    ports: said?.allow_port ?? [],
    gateway,
  };
}

export interface NetworkWishes {
  /** `--network`, which wins over the profile. */
  readonly mode?: string | undefined;
  readonly isolate: boolean;
  readonly gateway: boolean;
  readonly publish: readonly PublishedPort[];
  /** The server speaks HTTP: its port must not be one of this machine. */
  readonly listens: boolean;
}

const BRIDGES: ReadonlySet<string> = new Set(['', 'bridge', 'default']);

/**
 * How a container reaches the world. A profile that restricts is enforced whether or not isolation was asked for: rules that
 * nobody keeps are worse than none. What cannot be enforced is refused.
 */
export function networkOf(profile: PermissionProfile, wishes: NetworkWishes): ContainerNetwork {
  const { isolate, gateway, publish, listens } = wishes;
  const mode = wishes.mode ?? profile.network?.mode ?? '';
  const rules = egressOf(profile, gateway);
  const isConfined = isolate || !rules.all;
  if (gateway && !isConfined && mode !== 'none')
    throw unsupported(
      '--allow-docker-gateway opens a gate that is not closed',
      'add --isolate-network, or leave it out',
    );
  if (mode === 'none' || (!rules.all && rules.hosts.length === 0 && rules.ports.length === 0 && !gateway)) {
    if (!BRIDGES.has(mode) && mode !== 'none') throw unenforceable(mode);
    refusePorts(publish, 'without a network');
    return { kind: 'none' };
  }
  if (!BRIDGES.has(mode)) {
    if (isConfined) throw unenforceable(mode);
    if (mode === 'host' && listens)
      throw unsupported(
        '--network host would open the server to everybody on this machine, around the gate',
        'leave it out, or use --transport stdio',
      );
    refusePorts(publish, `on the network ${mode}`);
    return { kind: 'named', name: mode };
  }
  if (!isConfined) return { kind: 'bridge', publish };
  refusePorts(publish, 'in isolation');
  return { kind: 'isolated', rules };
}

export function parsePort(text: string): PublishedPort {
  const [first = '', second] = text.split(':');
  const [host, container] = second === undefined ? [undefined, Number(first)] : [Number(first), Number(second)];
  const isPort = (port: number): boolean => Number.isInteger(port) && port >= 1 && port <= 65_535;
  if (!isPort(container) || (host !== undefined && !isPort(host)))
    throw new SallyError('usage.invalid', `${text} does not name ports`, { hint: 'write HOST-PORT:CONTAINER-PORT' });
  return { host, container };
}

function refusePorts(publish: readonly PublishedPort[], where: string): void {
  if (publish.length > 0) throw unsupported(`-p opens no port of a container ${where}`, 'leave out -p');
}

function unenforceable(mode: string): SallyError {
  return unsupported(
    `the permission profile cannot be enforced on the network ${mode}`,
    'leave out --network, or choose --permission-profile network without --isolate-network',
  );
}

function unsupported(message: string, hint: string): SallyError {
  return new SallyError('config.unsupported', message, { hint });
}
