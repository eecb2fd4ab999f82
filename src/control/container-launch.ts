import { type Log, SallyError, type Secret } from '../base/index.ts';
import { parsePackageReference, type RunConfig } from '../resources/index.ts';
import {
  ensureBuilt,
  ensureImage,
  type ObtainedImage,
  obtainImage,
  type Progress,
  type Verification,
} from '../workloads/images/index.ts';
import {
  type ContainerLaunch,
  connectEngine,
  type Engine,
  type Environment,
  mountsOf,
  needsRelay,
  reap,
  volumesOf,
} from '../workloads/index.ts';
import { networkFor, profileOf } from './profile.ts';
import { wantedEngine } from './wanted-engine.ts';

const MEMORY = 2 * 1024 ** 3;
const PIDS = 512;
/** Only for the way to the port of a server, and for the way out of an isolated one. */
const RELAY_IMAGE = 'node:24-alpine';

export interface ContainerParts {
  readonly env: Environment;
  readonly log: Log;
  readonly progress: Progress;
  /** The engine, where it is known already. */
  readonly engine?: Engine | undefined;
}

/**
 * Looks at everything that a container needs while somebody watches, verifies its image as he wants, fetches it, and writes its digest
 * down: from then on that is what runs, wherever its tag goes.
 */
export async function prepareContainer(config: RunConfig, parts: ContainerParts): Promise<RunConfig> {
  let image_digest: string | undefined;
  await launchWith(config, {}, parts, async (own) => {
    const { id, digest } = await imageOf(config, config.image_verification ?? 'warn', own);
    image_digest = digest;
    return id;
  });
  return image_digest === undefined ? config : { ...config, image_digest };
}

/** Everything about the container of a workload but what it listens on. Images are fetched or built when they are not there. */
export async function containerLaunchOf(
  config: RunConfig,
  variables: Readonly<Record<string, string | Secret>>,
  parts: ContainerParts,
): Promise<ContainerLaunch> {
  return await launchWith(config, variables, parts, async (own) => {
    return (await imageOf(config, verificationAtStart(config), own)).id;
  });
}

async function launchWith(
  config: RunConfig,
  variables: Readonly<Record<string, string | Secret>>,
  parts: ContainerParts,
  imageId: (parts: WithEngine) => Promise<string>,
): Promise<ContainerLaunch> {
  const { env, log } = parts;
  const { name, working_directory: from = '/' } = config;
  const engine = parts.engine ?? (await connectEngine(env, wantedEngine(config)));
  await reap(engine, env, log);
  const profile = profileOf(config);
  const isHttp = config.transport !== 'stdio';
  const network = networkFor(config);
  const volumes = await volumesOf(profile, config.volumes, from);
  const hiding = { global: config.ignore_config?.load_global ?? true, env };
  const mounts = (await Promise.all(volumes.map((volume) => mountsOf(volume, hiding)))).flat();
  if (config.ignore_config?.print_overlays) {
    for (const mount of mounts) if (mount.kind === 'hidden') parts.progress(`hidden from ${name}: ${mount.target}`);
  }
  if (profile.privileged)
    log.warn('the container is privileged: it can do everything on the machine of its engine', { workload: name });
  if (!engine.limits.memory) log.warn('this engine cannot limit memory', { workload: name });
  const draft: ContainerLaunch = {
    kind: 'container',
    name,
    engine: engine.address,
    image: await imageId({ ...parts, engine }),
    args: config.cmd_args,
    env: variables,
    labels: config.container_labels,
    mounts,
    network,
    privileged: profile.privileged,
    memoryBytes: bytesOf(config.memory),
    pids: config.pids_limit ?? PIDS,
    root: config.read_only_root === undefined ? 'auto' : config.read_only_root ? 'read-only' : 'writable',
  };
  if (!isHttp && !needsRelay(draft)) return draft;
  return { ...draft, relayImage: await relayImage(config, { ...parts, engine }) };
}

type WithEngine = ContainerParts & { readonly engine: Engine };

async function imageOf(config: RunConfig, verification: Verification, parts: WithEngine): Promise<ObtainedImage> {
  const { image = '', runtime_config, ca_cert, working_directory: from = '/' } = config;
  const reference = parsePackageReference(image);
  if (reference) {
    if (verification === 'enabled') throw nobodySigns(image);
    const { builder_image, additional_packages = [] } = runtime_config ?? {};
    const order = { reference, base: builder_image, packages: additional_packages, caCert: ca_cert, from };
    return { id: await ensureBuilt(order, parts) };
  }
  if (runtime_config !== undefined || ca_cert !== undefined) {
    throw new SallyError(
      'config.unsupported',
      '--runtime-image, --runtime-add-package and --ca-cert are for images that are built from packages',
      { hint: 'leave them out: this image is taken as it is' },
    );
  }
  const { image_digest: digest, image_provenance: provenance } = config;
  return await obtainImage({ reference: image, digest, provenance, verification }, parts);
}

/** A digest was verified when it was found out, and the bytes behind it do not change. */
function verificationAtStart({ image_digest, image_verification = 'disabled' }: RunConfig): Verification {
  return image_digest === undefined ? image_verification : 'disabled';
}

function nobodySigns(image: string): SallyError {
  return new SallyError('workload.image_unverified', `${image} is built here, and nobody signs what is built here`, {
    hint: 'leave out --image-verification enabled, or run an image that its publisher signed',
  });
}

/** A server of npm has Node.js in its own base image; nothing else need be fetched then. */
async function relayImage(config: RunConfig, parts: WithEngine): Promise<string> {
  const own = config.image?.startsWith('npx://') ? config.runtime_config?.builder_image : undefined;
  return await ensureImage(parts.env.SALLYPORT_RELAY_IMAGE || own || RELAY_IMAGE, parts);
}

function bytesOf(size: string | undefined): number {
  const [, number, unit] = /^([0-9]+)([kmg])$/.exec(size ?? '') ?? [];
  if (number === undefined || unit === undefined) return MEMORY;
  return Number(number) * 1024 ** ('kmg'.indexOf(unit) + 1);
}
