import { randomBytes } from 'node:crypto';
import type { ContainerCreateOptions, HostConfig, MountConfig } from 'dockerode';
import { Secret } from '../../../base/index.ts';
import type { ContainerLaunch, Environment } from '../../launch.ts';
import type { Mount } from '../../permissions/mounts.ts';
import type { Engine } from './connect.ts';
import { labelsFor } from './labels.ts';
import { proxyPortBeside, proxyVariables } from './relay/proxy-variables.ts';
import { type RelayOrders, relayProgram } from './relay/relay.ts';

/** Nobody: our own program needs no rights at all. */
const NOBODY = '65534:65534';
const RELAY_MEMORY = 256 * 1024 * 1024;
const RELAY_PIDS = 64;
/** Said, since Podman raises what nobody mentions, and often may not. Processes are counted by the cgroup; this is a second fence. */
export const ULIMITS = [
  { Name: 'nofile', Soft: 8_192, Hard: 8_192 },
  { Name: 'nproc', Soft: 32_768, Hard: 32_768 },
];

/** What programs expect to be able to write, gone with the container. */
const WRITABLE = {
  '/tmp': 'rw,nosuid,nodev,mode=1777,size=256m',
  '/run': 'rw,nosuid,nodev,mode=1777,size=16m',
};

/** Each start gets a name of its own: no container of anybody else is ever in the way, or taken for ours. */
export function containerName(workload: string, role: string): string {
  const plain = workload.toLowerCase().replace(/[^a-z0-9_.-]/g, '-');
  return `sallyport-${plain}-${role}-${randomBytes(4).toString('hex')}`;
}

/** Whether a launch needs our relay: to reach the port of a server without opening it, or to let it out through our proxy. */
export function needsRelay({ listens, network }: ContainerLaunch): boolean {
  return listens !== undefined || network.kind === 'isolated';
}

export function proxyPortFor({ network, listens }: ContainerLaunch): number | undefined {
  return network.kind === 'isolated' ? proxyPortBeside(listens?.port) : undefined;
}

interface Context {
  readonly engine: Engine;
  readonly env: Environment;
}

/** The container of a server. Everything that is not needed is taken away. */
export function serverSettings(
  launch: ContainerLaunch,
  { readOnly, relay }: { readonly readOnly: boolean; readonly relay: string | undefined },
  { engine, env }: Context,
): ContainerCreateOptions {
  const isStdio = launch.listens === undefined;
  return {
    name: containerName(launch.name, 'server'),
    Image: launch.image,
    ...(launch.args.length > 0 ? { Cmd: [...launch.args] } : {}),
    Env: Object.entries(variablesOf(launch)).map(([name, value]) => `${name}=${value}`),
    Labels: { ...launch.labels, ...labelsFor(launch.name, 'server', env) },
    Tty: false,
    AttachStdin: isStdio,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: isStdio,
    StdinOnce: isStdio, // when we are gone, so is its input
    HostConfig: {
      ...hardened(engine, { readOnly, memory: launch.memoryBytes, pids: launch.pids }),
      ...(launch.privileged ? { Privileged: true, CapDrop: [], SecurityOpt: [] } : {}),
      Init: true,
      ...mountsFor(launch.mounts, engine, readOnly),
      ...(relay === undefined ? networkOf(launch) : { NetworkMode: `container:${relay}` }),
    },
    ...(relay === undefined ? exposed(launch) : {}),
  };
}

/** The container of our relay, which owns the network that the server lives in. */
export function relaySettings(
  launch: ContainerLaunch,
  orders: RelayOrders,
  { engine, env }: Context,
): ContainerCreateOptions {
  return {
    name: containerName(launch.name, 'relay'),
    Image: launch.relayImage ?? '',
    Entrypoint: ['node'],
    Cmd: ['--max-old-space-size=96', '-e', relayProgram(orders)],
    User: NOBODY,
    Env: [],
    WorkingDir: '/',
    Labels: labelsFor(launch.name, 'relay', env),
    Tty: false,
    AttachStdin: true,
    AttachStdout: true,
    AttachStderr: true,
    OpenStdin: true,
    StdinOnce: true,
    HostConfig: {
      ...hardened(engine, { readOnly: true, memory: RELAY_MEMORY, pids: RELAY_PIDS }),
      ...networkOf(launch),
    },
    ...exposed(launch),
  };
}

function hardened(
  { limits }: Engine,
  { readOnly, memory, pids }: { readonly readOnly: boolean; readonly memory: number; readonly pids: number },
): HostConfig {
  return {
    CapDrop: ['ALL'],
    SecurityOpt: ['no-new-privileges'],
    ReadonlyRootfs: readOnly,
    Tmpfs: readOnly ? WRITABLE : {},
    ...(limits.memory ? { Memory: memory, MemorySwap: memory } : {}),
    ...(limits.pids ? { PidsLimit: pids } : {}),
    Ulimits: ULIMITS,
    RestartPolicy: { Name: 'no' }, // restarts have one owner, and that is us
    // Messages between clients and servers are nobody else's business: the engine must not write them down.
    LogConfig: { Type: 'none', Config: {} },
    AutoRemove: false,
    Privileged: false,
  };
}

function networkOf({ network }: ContainerLaunch): HostConfig {
  switch (network.kind) {
    case 'none':
    case 'isolated':
      return { NetworkMode: 'none' };
    case 'named':
      return { NetworkMode: network.name };
    case 'bridge':
      return {
        NetworkMode: 'bridge',
        PortBindings: Object.fromEntries(
          network.publish.map(({ host, container }) => [
            `${container}/tcp`,
            [{ HostIp: '127.0.0.1', HostPort: host === undefined ? '' : String(host) }],
          ]),
        ),
      };
  }
}

function exposed({ network }: ContainerLaunch): ContainerCreateOptions {
  if (network.kind !== 'bridge') return {};
  return { ExposedPorts: Object.fromEntries(network.publish.map(({ container }) => [`${container}/tcp`, {}])) };
}

/** An empty device in the place of a hidden file, an empty folder in the place of a hidden folder; neither can be written. */
function mountsFor(mounts: readonly Mount[], { kind }: Engine, readOnly: boolean): HostConfig {
  const hiddenFolders = mounts.flatMap((mount) =>
    mount.kind === 'hidden' && mount.what === 'folder' ? [mount.target] : [],
  );
  const rest = mounts.filter((mount) => mount.kind === 'bind' || mount.what === 'file');
  const binds = rest.map((mount) =>
    mount.kind === 'bind'
      ? { Type: 'bind' as const, Source: mount.source, Target: mount.target, ReadOnly: mount.readOnly }
      : { Type: 'bind' as const, Source: '/dev/null', Target: mount.target, ReadOnly: true },
  );
  if (kind === 'podman') {
    // Podman fills a folder in memory with what it covers, unless it is told not to, and only here it can be told.
    const empty = hiddenFolders.map((target) => [target, 'ro,notmpcopyup,nosuid,nodev,noexec,mode=0555,size=4096']);
    return { Mounts: binds, Tmpfs: { ...(readOnly ? WRITABLE : {}), ...Object.fromEntries(empty) } };
  }
  const empty = { Type: 'tmpfs' as const, Source: '', ReadOnly: true, TmpfsOptions: { SizeBytes: 4096, Mode: 0o555 } };
  return { Mounts: [...binds, ...hiddenFolders.map((Target) => ({ ...empty, Target }))] as MountConfig };
}

function variablesOf(launch: ContainerLaunch): Record<string, string> {
  const own = Object.entries(launch.env).map(([name, value]) => [
    name,
    value instanceof Secret ? value.reveal() : value,
  ]);
  const port = proxyPortFor(launch);
  return { ...(port === undefined ? {} : proxyVariables(port)), ...Object.fromEntries(own) };
}
