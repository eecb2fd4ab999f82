import { resolve } from 'node:path';
import { given, SallyError } from '../base/index.ts';
import { CONTAINER_FIELDS, checkRunConfig, RUN_CONFIG_VERSION, type RunConfig } from '../resources/index.ts';
import { CONFINING, isConfined } from './confinement.ts';

/** What the flags of `run` say about the container of a server. */
export interface ContainerFlags {
  readonly runtime?: RunConfig['runtime'];
  readonly memory?: string;
  readonly pidsLimit?: number;
  readonly readOnlyRoot?: boolean;
  readonly volume?: readonly string[];
  readonly publish?: readonly string[];
  readonly network?: string;
  readonly isolateNetwork?: boolean;
  readonly allowDockerGateway?: boolean;
  readonly permissionProfile?: string;
  readonly imageVerification?: RunConfig['image_verification'];
  readonly caCert?: string;
  readonly ignoreGlobally?: boolean;
  readonly printResolvedOverlays?: boolean;
  readonly runtimeImage?: string;
  readonly runtimeAddPackage?: readonly string[];
}

export function containerFields(flags: ContainerFlags): Partial<RunConfig> {
  const { runtimeImage, runtimeAddPackage, ignoreGlobally, printResolvedOverlays, permissionProfile, caCert } = flags;
  const build = given({ builder_image: runtimeImage, additional_packages: runtimeAddPackage });
  const ignore = given({ load_global: ignoreGlobally, print_overlays: printResolvedOverlays });
  const isBuiltIn = permissionProfile === 'none' || permissionProfile === 'network';
  return given({
    runtime: flags.runtime,
    memory: flags.memory,
    pids_limit: flags.pidsLimit,
    read_only_root: flags.readOnlyRoot,
    volumes: flags.volume?.map(absoluteVolume),
    publish: flags.publish,
    network: flags.network,
    isolate_network: flags.isolateNetwork,
    allow_docker_gateway: flags.allowDockerGateway,
    permission_profile_name_or_path: isBuiltIn ? permissionProfile : permissionProfile && resolve(permissionProfile),
    image_verification: flags.imageVerification,
    ca_cert: caCert && resolve(caCert),
    runtime_config: Object.keys(build).length > 0 ? build : undefined,
    ignore_config: Object.keys(ignore).length > 0 ? ignore : undefined,
  }) as Partial<RunConfig>;
}

/** What cannot be enforced is refused, never left out in silence. A process can be confined, but not limited like a container. */
export function refuseContainerFields(config: RunConfig): void {
  const { name, remote_url, runtime } = config;
  if (remote_url === undefined && runtime !== 'process') return;
  const works = remote_url === undefined && isConfined(config) ? FOR_CONFINED : [];
  const unsaid = unsaidConfig();
  const said = CONTAINER_FIELDS.filter(
    (field) => !works.includes(field) && JSON.stringify(config[field]) !== JSON.stringify(unsaid[field]),
  );
  if (remote_url !== undefined && runtime !== undefined) said.unshift('runtime' as never);
  if (said.length === 0) return;
  const kind = remote_url === undefined ? 'runs as a process of this machine' : 'runs elsewhere';
  throw new SallyError('config.unsupported', `${name} ${kind}, where these mean nothing: ${said.join(', ')}`, {
    hint: 'leave them out; they are for servers in containers',
  });
}

const FOR_CONFINED: readonly (keyof RunConfig)[] = [...CONFINING, 'ignore_config'];

/** The defaults of all fields. */
function unsaidConfig(): RunConfig {
  const least = { schema_version: RUN_CONFIG_VERSION, name: 'x', remote_url: 'https://x', transport: 'sse' };
  return checkRunConfig(least, 'the defaults');
}

/** Relative to where the command was given, not to where the workload is started again one day. */
function absoluteVolume(text: string): string {
  const [source = '', ...rest] = text.split(':');
  return [resolve(source), ...rest].join(':');
}
