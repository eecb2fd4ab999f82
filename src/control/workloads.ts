import { createServer } from 'node:net';
import { SallyError as Failure, type Log, type SallyError, type Secret } from '../base/index.ts';
import type { StartWorkload } from '../gateway/index.ts';
import { keyOf, type WorkloadKey } from '../plan/index.ts';
import { createGuardian, type Environment, type Launch, superviseProcess } from '../workloads/index.ts';

/** A program to run, before it is decided where it answers. */
export interface WorkloadSpec {
  readonly launch: Launch;
  readonly transport: 'stdio' | 'streamable-http';
  /** Where an HTTP server listens inside; chosen by us and told to it by environment when left out. */
  readonly port?: number;
}

/** Where a workload answers once it runs. Nothing runs yet: the gateway that needs it starts it. */
export type PlannedWorkload =
  | { readonly kind: 'stdio'; readonly key: WorkloadKey }
  | { readonly kind: 'streamable-http'; readonly key: WorkloadKey; readonly url: string };

/** The processes of one `sally`: planned by the control road, started when a gateway takes them into use. */
export interface Workloads extends AsyncDisposable {
  plan(spec: WorkloadSpec): Promise<PlannedWorkload>;
  readonly start: StartWorkload;
  close(): Promise<void>;
}

export interface WorkloadsParts {
  readonly log: Log;
  readonly env: Environment;
  /** Hears of a process that keeps ending and will not be started again. */
  readonly onGivenUp?: (error: SallyError) => void;
}

export function createWorkloads({ log, env, onGivenUp }: WorkloadsParts): Workloads {
  const guardian = createGuardian({ log, path: env.PATH });
  const launches = new Map<WorkloadKey, Launch>();
  const ports = new Map<WorkloadKey, number>();

  async function plan({ launch, transport, port }: WorkloadSpec): Promise<PlannedWorkload> {
    // The name in front is for people who read a plan; the hash tells one form of the workload from another.
    const key = `${launch.name}@${keyOf({ launch, transport, port })}`;
    if (transport === 'stdio') {
      launches.set(key, { ...launch, env: { MCP_TRANSPORT: 'stdio', ...launch.env } });
      return { kind: 'stdio', key };
    }
    const chosen = port ?? ports.get(key) ?? (await freePort());
    ports.set(key, chosen);
    launches.set(key, { ...launch, env: { ...portVariables(chosen), ...launch.env } });
    return { kind: 'streamable-http', key, url: `http://127.0.0.1:${chosen}/mcp` };
  }

  async function close(): Promise<void> {
    await guardian.close();
  }

  return {
    plan,
    start(key, listener) {
      const launch = launches.get(key);
      if (!launch) throw new Failure('internal.bug', `the workload ${key} was never planned`);
      return superviseProcess(launch, {
        guardian,
        log,
        env,
        listener: {
          started: (send) => listener.started(send),
          line: (line) => listener.line(line),
          stopped(error, final) {
            if (final && error.code !== 'listener.draining') onGivenUp?.(error);
            listener.stopped(error, final);
          },
        },
      });
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The names under which the usual server frameworks look for their transport and port. */
function portVariables(port: number): Readonly<Record<string, string | Secret>> {
  return {
    MCP_TRANSPORT: 'streamable-http',
    MCP_HOST: '127.0.0.1',
    MCP_PORT: String(port),
    FASTMCP_PORT: String(port),
    PORT: String(port),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
