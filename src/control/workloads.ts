import { createServer } from 'node:net';
import { type Log, SallyError } from '../base/index.ts';
import type { StartWorkload } from '../gateway/index.ts';
import { keyOf, type WorkloadKey } from '../plan/index.ts';
import {
  createGuardian,
  type Environment,
  type Launch,
  type SupervisedProcess,
  superviseProcess,
} from '../workloads/index.ts';

/** A program to run, before it is decided where it answers. */
export interface WorkloadSpec {
  readonly launch: Launch;
  readonly transport: 'stdio' | 'streamable-http' | 'sse';
  /** Where an HTTP server listens inside; chosen by us and told to it by environment when left out. */
  readonly port?: number;
}

/** Where a workload answers once it runs. Nothing runs yet: the gateway that needs it starts it. */
export type PlannedWorkload =
  | { readonly kind: 'stdio'; readonly key: WorkloadKey }
  | { readonly kind: 'streamable-http' | 'sse'; readonly key: WorkloadKey; readonly url: string };

/** The processes of one `sally`: planned by the control road, started when a gateway takes them into use. */
export interface Workloads extends AsyncDisposable {
  plan(spec: WorkloadSpec): Promise<PlannedWorkload>;
  /** Forgets all plans but these. What runs goes on until nobody uses it. */
  keepOnly(keys: ReadonlySet<WorkloadKey>): void;
  readonly start: StartWorkload;
  close(): Promise<void>;
}

export interface WorkloadsParts {
  readonly log: Log;
  readonly env: Environment;
  /** Hears of a process that keeps ending and will not be started again. */
  readonly onGivenUp?: (error: SallyError) => void;
}

interface Prepared {
  readonly launch: Launch;
  readonly isHttp: boolean;
  readonly port: number | undefined;
}

export function createWorkloads({ log, env, onGivenUp }: WorkloadsParts): Workloads {
  const guardian = createGuardian({ log, path: env.PATH });
  const prepared = new Map<WorkloadKey, Prepared>();
  /** Who listens on which port. One that changed needs the port of the one it replaces. */
  const holders = new Map<number, SupervisedProcess>();

  async function plan({ launch, transport, port }: WorkloadSpec): Promise<PlannedWorkload> {
    // The name in front is for people who read a plan; the hash tells one form of the workload from another.
    const key = `${launch.name}@${keyOf({ launch, transport, port })}`;
    if (transport === 'stdio') {
      const variables = { MCP_TRANSPORT: transport, ...launch.env };
      prepared.set(key, { launch: { ...launch, env: variables }, isHttp: false, port: undefined });
      return { kind: transport, key };
    }
    const chosen = port ?? prepared.get(key)?.port ?? (await freePort());
    const variables = { ...portVariables(transport, chosen), ...launch.env };
    prepared.set(key, { launch: { ...launch, env: variables }, isHttp: true, port: chosen });
    return { kind: transport, key, url: `http://127.0.0.1:${chosen}${transport === 'sse' ? '/sse' : '/mcp'}` };
  }

  const start: StartWorkload = (key, listener) => {
    const wanted = prepared.get(key);
    if (!wanted) throw new SallyError('internal.bug', `the workload ${key} was never planned`);
    const { launch, isHttp, port } = wanted;
    const holder = port === undefined ? undefined : holders.get(port);
    const process = (holder?.close() ?? Promise.resolve()).then(() => {
      const supervised = superviseProcess(launch, {
        guardian,
        log,
        env,
        stdout: isHttp ? 'free' : 'messages',
        listener: {
          started: (send, mask) => listener.started(send, mask),
          line: (line) => listener.line(line),
          stopped(error, final) {
            if (final && error.code !== 'listener.draining') onGivenUp?.(error);
            listener.stopped(error, final);
          },
        },
      });
      if (port !== undefined) holders.set(port, supervised);
      return supervised;
    });
    return {
      async close() {
        const supervised = await process;
        await supervised.close();
        if (port !== undefined && holders.get(port) === supervised) holders.delete(port);
      },
    };
  };

  async function close(): Promise<void> {
    await guardian.close();
  }

  return {
    plan,
    keepOnly(keys) {
      for (const key of prepared.keys()) if (!keys.has(key)) prepared.delete(key);
    },
    start,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** The names under which the usual server frameworks look for their transport and port. */
function portVariables(transport: string, port: number): Readonly<Record<string, string>> {
  return {
    MCP_TRANSPORT: transport,
    MCP_HOST: '127.0.0.1',
    MCP_PORT: String(port),
    FASTMCP_PORT: String(port),
    PORT: String(port),
  };
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', (cause) => {
      reject(
        new SallyError('listener.address_refused', 'no free port can be had on this machine', {
          cause,
          hint: 'give the server an mcpPort',
        }),
      );
    });
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}
