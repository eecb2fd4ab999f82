import { readFile } from 'node:fs/promises';
import { type Log, SallyError } from '../base/index.ts';
import { checkRunConfig, parsePackageReference, parsePermissionProfile, type RunConfig } from '../resources/index.ts';
import { connectEngine, type Engine, type Environment, isBuiltIn } from '../workloads/index.ts';
import type { RunInputs } from '../workloads/registry/index.ts';
import { isConfined } from './confinement.ts';
import { refuseContainerFields } from './container-flags.ts';
import { wantedEngine } from './wanted-engine.ts';

/** What the registry says that a server may do, what of it nobody gets without being asked for, and who signed its image. */
export type RegistryPermissions = Pick<RunInputs, 'name' | 'kind' | 'permissions' | 'demands' | 'provenance'>;

export interface RuntimeParts {
  readonly env: Environment;
  readonly log: Log;
  /** Hears what is decided, and how far long work has come. */
  readonly progress: (line: string) => void;
  readonly permissions?: RegistryPermissions | undefined;
}

/**
 * Decides once what runs a server, and writes it down: a server that was confined in a container never comes back as a plain
 * process because an engine was slow to start. Files that a configuration names are read into it, and its image is fetched or built
 * now, while somebody watches.
 */
export async function prepareRuntime(said: RunConfig, parts: RuntimeParts): Promise<RunConfig> {
  const { config, engine } = await settleRuntime({ ...said, ...(await profileFields(said)) }, parts);
  if (!engine) {
    if (config.remote_url === undefined) await prepareProcess(config, parts);
    return config;
  }
  const { prepareContainer } = await import('./container-launch.ts');
  const confined = withProvenance(withRegistryProfile(config, parts.permissions), parts.permissions);
  return await prepareContainer(confined, { ...parts, engine });
}

/** Walls are tried and packages fetched now. What nobody enforces is said in a line. */
async function prepareProcess(config: RunConfig, parts: RuntimeParts): Promise<void> {
  const { name } = config;
  if (!isConfined(config)) {
    if (parts.permissions?.permissions)
      parts.progress(`nothing keeps ${name} to what the registry says it may reach; --permission-profile would`);
    return;
  }
  const { confinedLaunchOf } = await import('./confined-launch.ts');
  const { confinement } = await confinedLaunchOf(config, {}, parts);
  const open = confinement?.network.kind === 'open' ? ', and it reaches what this machine reaches' : '';
  parts.progress(`${name} is confined by bubblewrap; its memory and processes are not limited${open}`);
}

/** Whether images can be run here; for the registry, which may offer another way. */
export async function hasEngine(
  flags: Pick<RunConfig, 'runtime'> | { runtime?: undefined },
  env: Environment,
): Promise<boolean> {
  if (flags.runtime === 'process') return false;
  if (flags.runtime !== undefined) return true;
  return await connectEngine(env).then(
    () => true,
    () => false,
  );
}

async function settleRuntime(
  config: RunConfig,
  { env, progress }: RuntimeParts,
): Promise<{ config: RunConfig; engine?: Engine }> {
  const isPackage = parsePackageReference(config.image ?? '') !== undefined;
  if (config.remote_url !== undefined || config.runtime === 'process') {
    if (config.remote_url === undefined && !isPackage) throw imageAsProcess(config);
    refuseContainerFields(config);
    return { config };
  }
  try {
    const engine = await connectEngine(env, wantedEngine(config));
    return { config: { ...config, runtime: config.runtime ?? 'container' }, engine };
  } catch (error) {
    if (!isPackage || config.runtime !== undefined || !(error instanceof SallyError)) throw error;
    const process = { ...config, runtime: 'process' as const };
    refuseContainerFields(process);
    const rights = isConfined(process) ? '' : ', with your rights';
    progress(`${error.message}: ${config.name} runs as a process of this machine${rights}`);
    return { config: process };
  }
}

/** A profile in a file becomes part of the configuration: what was agreed to does not change with the file. */
async function profileFields(config: RunConfig): Promise<Partial<RunConfig>> {
  const { permission_profile_name_or_path: name, permission_profile: known } = config;
  if (name === undefined || known || isBuiltIn(name)) return {};
  const text = await readFile(name, 'utf8').catch((cause: unknown) => {
    throw new SallyError('config.unreadable', `the permission profile ${name} cannot be read`, {
      cause,
      hint: 'choose none, network, or a JSON file',
    });
  });
  return { permission_profile: parsePermissionProfile(text, name) };
}

/** What the publisher of a server says that it needs to reach is enforced. What it wants of this machine it does not get by itself. */
function withRegistryProfile(config: RunConfig, registry: RegistryPermissions | undefined): RunConfig {
  if (!registry?.permissions || config.permission_profile || config.permission_profile_name_or_path !== undefined)
    return config;
  const { name, permissions, demands } = registry;
  if (demands.length > 0) {
    throw new SallyError(
      'config.unsupported',
      `${name} demands more than a server gets by itself: ${demands.join('; ')}`,
      {
        hint: 'allow what you agree to with --permission-profile and -v, or take --permission-profile network to run it without',
      },
    );
  }
  return {
    ...config,
    permission_profile: parsePermissionProfile(JSON.stringify(permissions), `the registry entry of ${name}`),
  };
}

/** Kept, so that a later `update` can hold the image against it again. */
function withProvenance(config: RunConfig, registry: RegistryPermissions | undefined): RunConfig {
  if (registry?.kind !== 'image' || !registry.provenance) return config;
  return checkRunConfig({ ...config, image_provenance: registry.provenance }, `the registry entry of ${registry.name}`);
}

function imageAsProcess({ image = '', name }: RunConfig): SallyError {
  return new SallyError(
    'config.unsupported',
    `${name} is the container image ${image}, which cannot run as a process`,
    {
      hint: 'leave out --runtime process',
    },
  );
}
