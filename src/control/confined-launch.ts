import { realpath, stat } from 'node:fs/promises';
import { SallyError, type Secret } from '../base/index.ts';
import { parsePackageReference, type RunConfig } from '../resources/index.ts';
import {
  type Environment,
  findBubblewrap,
  mountsOf,
  type ProcessLaunch,
  resolveConfined,
  volumesOf,
} from '../workloads/index.ts';
import { confinedNetworkOf } from './confinement.ts';
import { profileOf } from './profile.ts';

export interface ConfinedParts {
  readonly env: Environment;
  readonly progress: (line: string) => void;
}

/** Certificates that programs are told of by our environment: what is told has to be there. */
const CERTIFICATES = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'];

/** A package as a process behind walls. It is fetched when it is not there; where the walls cannot be built, nothing is. */
export async function confinedLaunchOf(
  config: RunConfig,
  variables: Readonly<Record<string, string | Secret>>,
  { env, progress }: ConfinedParts,
): Promise<ProcessLaunch> {
  const { name, image = '', working_directory: from = '/' } = config;
  const profile = profileOf(config);
  if (profile.privileged) throw cannotBePrivileged(name);
  const network = confinedNetworkOf(config);
  const bwrap = await findBubblewrap(name, env);
  const volumes = await volumesOf(profile, config.volumes, from);
  const hiding = { global: config.ignore_config?.load_global ?? true, env };
  const mounts = (await Promise.all(volumes.map((volume) => mountsOf(volume, hiding)))).flat();
  if (config.ignore_config?.print_overlays) {
    for (const mount of mounts) if (mount.kind === 'hidden') progress(`hidden from ${name}: ${mount.target}`);
  }
  const reference = parsePackageReference(image);
  if (!reference) throw new SallyError('internal.bug', `${image} is no package and cannot be confined as a process`);
  const { command, args, needs } = await resolveConfined(reference, config.cmd_args, { from, env, progress });
  const told = CERTIFICATES.flatMap((variable) => env[variable] ?? []);
  const confinement = { bwrap, needs: await present([process.execPath, ...needs, ...told]), mounts, network };
  return { name, command, args, env: variables, confinement };
}

/** What is there, under the name by which it is asked for and the one where it really lies. */
async function present(paths: readonly string[]): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    if (!(await stat(path).catch(() => undefined))) continue;
    for (const each of [path, await realpath(path)]) if (!each.startsWith('/usr/')) found.add(each);
  }
  return [...found];
}

function cannotBePrivileged(name: string): SallyError {
  return new SallyError('config.unsupported', `${name} is a process, which no profile can make privileged`, {
    hint: 'take privileged out of the permission profile; without a profile a process has all rights of its user',
  });
}
