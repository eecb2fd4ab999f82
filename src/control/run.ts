import { type Log, SallyError } from '../base/index.ts';
import { type BackendState, createBackendPool } from '../gateway/index.ts';
import { type BackendTarget, planSingle } from '../plan/index.ts';
import { parsePackageReference } from '../resources/index.ts';
import { checkWorkloadName, type Environment, resolvePackage, workloadNameFor } from '../workloads/index.ts';
import { createDoors } from './doors.ts';
import { endpointsOf, type ServeEvent } from './endpoints.ts';
import { type Exposure, refuseExposed } from './exposure.ts';
import { toTarget } from './launches.ts';
import { createMemories } from './memories.ts';
import { createWorkloads, type Workloads } from './workloads.ts';

export interface RunOptions extends Exposure {
  /** `npx://…`, `uvx://…`, `go://…` or a URL. */
  readonly server: string;
  readonly args: readonly string[];
  readonly name?: string;
  readonly port: number;
  readonly transport: 'stdio' | 'streamable-http' | 'sse';
  /** One process for all clients, or one for each. */
  readonly sessionMode: 'shared' | 'per-session';
  readonly targetPort?: number;
  readonly serverEnv: Readonly<Record<string, string>>;
  /** Where relative paths and installed packages are looked up. */
  readonly from: string;
}

export interface RunParts {
  readonly env: Environment;
  readonly version: string;
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly tell: (event: ServeEvent) => void;
}

/** Longer than a backend's own patience: with one server there is nothing to serve before it answers or fails. */
const PATIENCE = { own: 600_000, remote: 600_000 };

/** Runs one server in the foreground: until somebody asks it to end, or until it cannot be kept running. */
export async function run(options: RunOptions, parts: RunParts): Promise<void> {
  const { stop, version, env } = parts;
  const { log, letGo } = heldBack(parts.log);
  const over = Promise.withResolvers<void>();
  over.promise.catch(() => {}); // it may fail before anybody waits
  stop.addEventListener('abort', () => over.resolve(), { once: true });

  await using workloads = createWorkloads({ log, env, onGivenUp: over.reject });
  const name = options.name ?? workloadNameFor(options.server);
  checkWorkloadName(name);
  const plan = planSingle(name, await targetOf(name, options, env, workloads));
  refuseExposed(options, plan);

  const pool = createBackendPool({ startWorkload: workloads.start, version, log });
  const memories = createMemories();
  const doors = createDoors({ ...memories, pool, access: options.access, version, log, patience: PATIENCE });
  const waiting = setInterval(() => parts.log.info('still waiting for the server to answer', { server: name }), 5_000);
  try {
    const open = await doors.serve([{ port: options.port, gateways: [plan] }], stop);
    const [report] = open.flatMap(({ gateways }) => gateways.flatMap((gateway) => gateway.report()));
    refuseDown(report?.state);
    clearInterval(waiting);
    letGo();
    if (!stop.aborted) parts.tell({ event: 'ready', endpoints: endpointsOf(open) });
    await over.promise;
  } finally {
    clearInterval(waiting);
    memories.close();
    await doors.close();
    await pool.close();
  }
}

async function targetOf(
  name: string,
  options: RunOptions,
  env: Environment,
  workloads: Workloads,
): Promise<BackendTarget> {
  const { server, args, from, transport, targetPort, serverEnv, sessionMode } = options;
  if (/^https?:\/\//i.test(server)) return remoteTarget(server, transport === 'sse' ? 'sse' : 'streamable-http');
  const reference = parsePackageReference(server);
  if (!reference) {
    throw new SallyError(
      'workload.reference_invalid',
      `${JSON.stringify(server)} is not a server this version can run`,
      {
        hint: 'use npx://PACKAGE[@VERSION], uvx://PACKAGE[@VERSION], go://MODULE[@VERSION], go://./FOLDER or an http(s) URL',
      },
    );
  }
  const command = await resolvePackage(reference, args, { from, env });
  const launch = { name, ...command, env: serverEnv };
  const planned = await workloads.plan({
    launch,
    transport,
    ...(targetPort === undefined ? {} : { port: targetPort }),
  });
  return toTarget(planned, sessionMode === 'shared');
}

/** The person at the keyboard chose the address, so his own network is allowed; link-local addresses never are. */
function remoteTarget(text: string, kind: 'streamable-http' | 'sse'): BackendTarget {
  const url = URL.parse(text);
  if (url === null || `${url.username}${url.password}` !== '') {
    throw new SallyError('workload.reference_invalid', 'the URL of the server cannot be read, or carries a password', {
      hint: 'write https://HOST/PATH without user and password',
    });
  }
  return { kind, url: url.href, addresses: 'private', headers: {} };
}

/** `run` is for one server: when that one does not come up there is nothing to serve. */
function refuseDown(state: BackendState | undefined): void {
  if (state?.kind === 'down') throw state.error;
}

/** Until the server is up, a failure is told once, as the error that ends the command; --debug shows each step. */
function heldBack(log: Log): { readonly log: Log; readonly letGo: () => void } {
  let open = false;
  const hold =
    (write: Log['info']): Log['info'] =>
    (sentence, fields) =>
      open ? write(sentence, fields) : log.debug(sentence, fields);
  return {
    log: { error: hold(log.error), warn: hold(log.warn), info: hold(log.info), debug: log.debug },
    letGo: () => {
      open = true;
    },
  };
}
