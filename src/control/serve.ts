import { given, type Log, SallyError, type Secret, toSallyError } from '../base/index.ts';
import { createBackendPool, createCheckers } from '../gateway/index.ts';
import { type DoorPlan, keyOf, planResources } from '../plan/index.ts';
import { backendsOf, ConfigError, type ResourceOf, type ResourceSet, secretFromResources } from '../resources/index.ts';
import type { SecretSource } from '../secrets/index.ts';
import { watchFolder } from '../sources/index.ts';
import type { Environment } from '../workloads/index.ts';
import { type Admin, openAdmin } from './admin.ts';
import { createAuthServers } from './auth-servers.ts';
import { readCaBundle } from './ca-bundle.ts';
import { declaredIn } from './declare.ts';
import { createDoors } from './doors.ts';
import { endpointsOf, type ServeEvent } from './endpoints.ts';
import { type Exposure, refuseExposed } from './exposure.ts';
import { follow } from './follow.ts';
import { resolveTargets } from './launches.ts';
import { createMemories } from './memories.ts';
import { createWorkloads, type Workloads } from './workloads.ts';

export interface ServeOptions extends Exposure {
  /** The file or folder with the resources. */
  readonly path: string;
  readonly port: number;
  /** File with certificates to trust for every issuer of tokens, besides the system's. */
  readonly caBundle?: string;
}

export interface ServeParts {
  readonly secrets: SecretSource;
  readonly env: Environment;
  readonly pid: number;
  readonly version: string;
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly tell: (event: ServeEvent) => void;
}

/** One slow server does not keep the others waiting: after this many milliseconds it joins when it is ready. */
const PATIENCE = { own: 5_000, remote: 300 };

/**
 * The control road for a folder: what is declared becomes what runs, now and after each change. A change that is wrong is
 * reported and what runs stays; a right one is built whole beside the old, takes over, and lets the old one finish.
 */
export async function serve(options: ServeOptions, parts: ServeParts): Promise<void> {
  const { log, stop, tell, env, version } = parts;
  await using workloads = createWorkloads({ log, env });
  const changes = watchFolder(options.path, stop); // before the first look, so that no change is missed
  let plans = await readPlans(options, parts, workloads); // throws when wrong: nothing was started

  const pool = createBackendPool({ startWorkload: workloads.start, version, log });
  const memories = createMemories();
  const checkers = createCheckers({ log, now: Date.now });
  const authServers = createAuthServers(log, options.access);
  const doors = createDoors({
    ...memories,
    pool,
    checkers,
    authServers,
    access: options.access,
    version,
    log,
    patience: PATIENCE,
  });
  let admin: Admin | undefined;
  try {
    let open = await doors.serve(plans, stop);
    admin = await openAdmin(parts.pid, env, { endpoints: () => endpointsOf(open), logins: authServers.admins }, log);
    if (!stop.aborted) tell({ event: 'ready', endpoints: endpointsOf(open) });
    let refused = false;
    let mayHeal = false;
    for await (const _look of follow(changes, () => mayHeal, stop)) {
      try {
        const next = await readPlans(options, parts, workloads);
        if (!refused && keyOf(next) === keyOf(plans)) continue;
        sayWhatMoved(plans, next, log);
        open = await doors.serve(next, stop);
        [plans, refused, mayHeal] = [next, false, false];
        workloads.keepOnly(workloadsOf(plans));
        tell({ event: 'reloaded', endpoints: endpointsOf(open) });
      } catch (thrown) {
        // Whatever a change brings about, what runs goes on.
        const error = toSallyError(thrown);
        const again = mayHeal && refused;
        [refused, mayHeal] = [true, !(error instanceof ConfigError)];
        if (again && mayHeal) continue; // it was said once
        if (error.code === 'internal.bug')
          log.error('a change of the resources met a bug', { error, stack: (thrown as Error).stack });
        tell({ event: 'refused', error, problems: error instanceof ConfigError ? error.problems : [] });
      }
    }
  } finally {
    await admin?.close();
    memories.close();
    await doors.close();
    await pool.close();
  }
}

async function readPlans(options: ServeOptions, parts: ServeParts, workloads: Workloads): Promise<readonly DoorPlan[]> {
  const resources = await declaredIn(options.path, parts.secrets);
  const isServed = resources.virtualMcpServers.length > 0 || resources.mcpServers.some(({ spec }) => spec.proxyPort);
  if (!isServed) {
    const nothing = `there is no VirtualMCPServer in ${options.path}, and no MCPServer with a proxyPort`;
    throw new SallyError('config.invalid', nothing, {
      hint: 'declare one, or write a folder to start from with: sally vmcp init',
    });
  }
  const ca = options.caBundle === undefined ? undefined : await readCaBundle(options.caBundle);
  const secretOf = secretsOf(resources, parts.secrets);
  const targets = await resolveTargets(serversInUse(resources), {
    workloads,
    secretOf,
    env: parts.env,
    log: parts.log,
  });
  const { doors, unsupported } = planResources(resources, {
    targetOf: targets.targetOf,
    secretOf,
    port: options.port,
    ...given({ ca }),
  });
  const problems = [...targets.problems, ...unsupported];
  if (problems.length > 0) throw new ConfigError(problems, targets.code ?? 'config.unsupported');
  for (const gateway of doors.flatMap(({ gateways }) => gateways)) refuseExposed(options, gateway);
  return doors;
}

/** The only virtual server of a folder answers at `/mcp`; a second one takes that away, and clients of the first must know. */
function sayWhatMoved(before: readonly DoorPlan[], after: readonly DoorPlan[], log: Log): void {
  const pathsOf = (doors: readonly DoorPlan[]) =>
    new Set(doors.flatMap(({ gateways }) => gateways.flatMap(({ paths }) => paths)));
  const left = pathsOf(after);
  for (const path of pathsOf(before)) if (!left.has(path)) log.warn('a path is not served any more', { path });
}

function workloadsOf(doors: readonly DoorPlan[]): ReadonlySet<string> {
  const backends = doors.flatMap(({ gateways }) => gateways.flatMap((gateway) => gateway.backends));
  return new Set(backends.flatMap(({ target }) => target.workload ?? []));
}

function serversInUse(resources: ResourceSet): readonly ResourceOf<'MCPServer'>[] {
  const members = new Set(resources.virtualMcpServers.flatMap((server) => backendsOf(resources, server)));
  return resources.mcpServers.filter((server) => members.has(server) || server.spec.proxyPort !== undefined);
}

/** From outside first: what an operator sets for this run wins over what is written in a file. */
function secretsOf(resources: ResourceSet, source: SecretSource) {
  return (namespace: string, ref: { readonly name: string; readonly key: string }): Secret => {
    const place = { namespace, name: ref.name, key: ref.key };
    const found = source.read(place) ?? secretFromResources(resources, place);
    if (found) return found;
    throw new SallyError('config.secret_missing', `the secret ${ref.name} has no value for ${ref.key}`, {
      hint: source.describe(place),
    });
  };
}
