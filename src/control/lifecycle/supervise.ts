import { selfIdentity } from '../../base/files/index.ts';
import { createLog, type Log, type SallyError, toSallyError } from '../../base/index.ts';
import type { RunConfig } from '../../resources/index.ts';
import { openLogFile, type SupervisorRecord, type WorkloadStore } from '../../workloads/index.ts';
import type { Endpoint } from '../endpoints.ts';
import { type RunParts, run } from '../run.ts';
import { type LiveStatus, openControl, socketPath } from './control-socket.ts';

export interface SuperviseParts extends Omit<RunParts, 'log' | 'onWords' | 'onOpen'> {
  readonly store: WorkloadStore;
  readonly debug: boolean;
  /** Gets the log beside the file, where somebody watches. */
  readonly log?: Log;
}

/**
 * Keeps one workload running: the server, the gateway in front of it, its logs, and a socket on which commands ask how it is
 * and when it should end. Only the supervisor that was called for takes the workload up; one that comes late ends.
 */
export async function supervise(
  name: string,
  instance: string,
  config: RunConfig,
  parts: SuperviseParts,
): Promise<void> {
  const { store } = parts;
  const ending = new AbortController();
  const stop = AbortSignal.any([parts.stop, ending.signal]);
  const words = openLogFile(store.logFile(name, 'server'));
  const said = openLogFile(store.logFile(name, 'supervisor'));
  const ownLog = createLog({
    level: parts.debug ? 'debug' : 'info',
    format: 'text',
    write: said.write,
    now: () => new Date(),
  });
  const log = parts.log ? both(ownLog, parts.log) : ownLog;
  let phase: LiveStatus['phase'] = 'starting';
  let report: () => readonly Endpoint[] = () => [];
  let told: Promise<void> = Promise.resolve();

  const socket = await socketPath(store.sockets, instance);
  async function tellState(now: SupervisorRecord['phase'], more: Partial<SupervisorRecord> = {}): Promise<void> {
    const since = new Date().toISOString();
    await store.writeSupervisor(name, { instance, ...selfIdentity(), socket, phase: now, since, ...more });
  }

  const control = await openControl(socket, {
    report: () => ({ instance, phase, endpoints: report() }),
    stop() {
      phase = 'stopping';
      ending.abort();
    },
  });
  try {
    const isWanted = await store.alone(name, async () => {
      if ((await store.instanceOf(name)) !== instance) return false;
      await tellState('starting');
      return true;
    });
    if (!isWanted) return; // another command decided otherwise in the meantime
    try {
      await run(config, {
        ...parts,
        log,
        stop,
        onWords: (line) => words.write(`${new Date().toISOString()} ${line}\n`),
        onOpen(ask) {
          report = ask;
        },
        tell(event) {
          if (event.event === 'ready') {
            phase = 'running';
            const [endpoint] = event.endpoints;
            ownLog.info('workload runs', { workload: name, url: endpoint?.url });
            const where = endpoint ? { url: endpoint.url } : {};
            told = tellState('running', where).then(() => parts.tell(event));
            told.catch(() => ending.abort()); // a workload that nobody can find is of no use
          }
        },
      });
      await told;
      await tellState('stopped');
      log.info('workload stopped', { workload: name });
    } catch (thrown) {
      const { code, message, hint } = reported(thrown, log);
      const error = { code, message, ...(hint === undefined ? {} : { hint }) };
      await tellState('failed', { error }).catch((cause: unknown) =>
        log.error('the state cannot be written', { cause }),
      );
      throw thrown;
    }
  } finally {
    await control.close();
    await Promise.all([words.flush(), said.flush()]);
  }
}

/** Whoever called tells the error. Where a bug was met is for the log. */
function reported(thrown: unknown, log: Log): SallyError {
  const error = toSallyError(thrown);
  if (error.code === 'internal.bug') log.error('the supervisor met a bug', { error, stack: (thrown as Error).stack });
  return error;
}

function both(one: Log, two: Log): Log {
  const at =
    (level: keyof Log): Log['info'] =>
    (sentence, fields) => {
      one[level](sentence, fields);
      two[level](sentence, fields);
    };
  return { error: at('error'), warn: at('warn'), info: at('info'), debug: at('debug') };
}
