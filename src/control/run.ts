import type { Log } from '../base/index.ts';
import { type BackendReport, createBackendPool, createCheckers } from '../gateway/index.ts';
import type { RunConfig } from '../resources/index.ts';
import type { ResolveSecrets } from '../secrets/index.ts';
import type { Environment } from '../workloads/index.ts';
import { createAuthServers } from './auth-servers.ts';
import { createDoors } from './doors.ts';
import { type Endpoint, endpointsOf, type ServeEvent } from './endpoints.ts';
import { type Exposure, refuseExposed } from './exposure.ts';
import { createMemories } from './memories.ts';
import { planRun } from './run-plan.ts';
import { createWorkloads } from './workloads.ts';

export interface RunParts {
  readonly env: Environment;
  readonly version: string;
  readonly log: Log;
  readonly stop: AbortSignal;
  readonly tell: (event: ServeEvent) => void;
  readonly resolveSecrets: ResolveSecrets;
  /** A client secret from the command line, for this run only. */
  readonly oidcClientSecret?: string | undefined;
  readonly tokenExchangeClientSecret?: string | undefined;
  /** Hears what the server says for people. */
  readonly onWords?: (line: string) => void;
  /** Gets a way to ask how everything is, once there is something to ask about. */
  readonly onOpen?: (report: () => readonly Endpoint[]) => void;
}

/** Longer than a backend's own patience: with one server there is nothing to serve before it answers or fails. */
const PATIENCE = { own: 600_000, remote: 600_000 };

/** Runs one server in this process: until somebody asks it to end, or until it cannot be kept running. */
export async function run(config: RunConfig, parts: RunParts): Promise<void> {
  const { stop, version, env, onWords } = parts;
  const { name, port } = config;
  const { log, letGo } = heldBack(parts.log);
  const over = Promise.withResolvers<void>();
  over.promise.catch(() => {}); // it may fail before anybody waits
  stop.addEventListener('abort', () => over.resolve(), { once: true });

  await using workloads = createWorkloads({ log, env, onGivenUp: over.reject, ...(onWords ? { onWords } : {}) });
  const plan = await planRun(config, { ...parts, log, workloads });
  const exposure = exposureOf(config);
  refuseExposed(exposure, plan);

  const pool = createBackendPool({ startWorkload: workloads.start, version, log });
  const memories = createMemories();
  const checkers = createCheckers({ log, now: Date.now });
  const authServers = createAuthServers(log, exposure.access);
  const doors = createDoors({
    ...memories,
    pool,
    checkers,
    authServers,
    access: exposure.access,
    version,
    log,
    patience: PATIENCE,
  });
  const waiting = setInterval(() => parts.log.info('still waiting for the server to answer', { server: name }), 5_000);
  try {
    const open = await doors.serve([{ port, gateways: [plan] }], stop);
    const [report] = open.flatMap(({ gateways }) => gateways.flatMap((gateway) => gateway.report()));
    refuseDown(report?.state);
    clearInterval(waiting);
    letGo();
    parts.onOpen?.(() => endpointsOf(open));
    if (!stop.aborted) parts.tell({ event: 'ready', endpoints: endpointsOf(open) });
    await over.promise;
  } finally {
    clearInterval(waiting);
    memories.close();
    await doors.close();
    await pool.close();
  }
}

export function exposureOf(config: RunConfig): Exposure {
  return {
    access: {
      host: config.host,
      allowedHosts: config.allowed_hosts,
      allowedOrigins: config.allowed_origins,
      trustProxyHeaders: config.trust_proxy_headers,
    },
    insecureAllowAnonymous: config.insecure_allow_anonymous,
  };
}

/** `run` is for one server: when that one does not come up there is nothing to serve. */
function refuseDown(state: BackendReport['state'] | undefined): void {
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
