import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Log, printable, SallyError } from '../base/index.ts';
import type { StartWorkload } from '../gateway/index.ts';
import { keyOf, type WorkloadKey } from '../plan/index.ts';
import {
  type ContainerLaunch,
  createEngines,
  createGuardian,
  type Engine,
  type EngineKind,
  type Engines,
  type Environment,
  type Launch,
  type SupervisedProcess,
  type SuperviseParts,
  superviseContainer,
  superviseProcess,
} from '../workloads/index.ts';

/** A program to run, before it is decided where it answers. */
export interface WorkloadSpec {
  readonly launch: Launch;
  readonly transport: 'stdio' | 'streamable-http' | 'sse';
  /** Where an HTTP server listens inside; chosen by us and told to it by environment when left out. */
  readonly port?: number;
  /** By which name of this machine it is reached; 127.0.0.1 when left out. */
  readonly host?: string;
}

/** Where a workload answers once it runs. Nothing runs yet: the gateway that needs it starts it. */
export type PlannedWorkload =
  | { readonly kind: 'stdio'; readonly key: WorkloadKey }
  | {
      readonly kind: 'streamable-http' | 'sse';
      readonly key: WorkloadKey;
      readonly url: string;
      /** The way to a server in a container: a socket file instead of a port. */
      readonly socket?: string;
    };

/** The processes of one `sally`: planned by the control road, started when a gateway takes them into use. */
export interface Workloads extends AsyncDisposable {
  plan(spec: WorkloadSpec): Promise<PlannedWorkload>;
  /** The engine for containers, of one kind or of any. */
  findEngine(wanted?: EngineKind): Promise<Engine>;
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
  /** Hears what servers say for people, with their secrets masked. */
  readonly onWords?: (line: string) => void;
}

export interface StartParts extends SuperviseParts {
  readonly engines: Engines;
  readonly env: Environment;
}

/** The runtime that a launch is made for keeps it running. */
export function startWorkload(launch: Launch, parts: StartParts): SupervisedProcess {
  return launch.kind === 'container' ? superviseContainer(launch, parts) : superviseProcess(launch, parts);
}

/** Where a server in a container listens when nobody says: its network is its own, so no other server is in the way. */
const INSIDE_PORT = 8080;

const LONGEST_WORDS = 2_000;

interface Prepared {
  readonly launch: Launch;
  readonly isHttp: boolean;
  readonly port: number | undefined;
}

export function createWorkloads({ log, env, onGivenUp, onWords }: WorkloadsParts): Workloads {
  const guardian = createGuardian({ log, path: env.PATH });
  const prepared = new Map<WorkloadKey, Prepared>();
  const engines = createEngines();
  /** For the sockets that lead into containers; only we can open the folder. */
  let sockets: Promise<string> | undefined;
  /** Who listens on which port. One that changed needs the port of the one it replaces. */
  const holders = new Map<number, SupervisedProcess>();

  async function plan({ launch, transport, port, host = '127.0.0.1' }: WorkloadSpec): Promise<PlannedWorkload> {
    // The name in front is for people who read a plan; the hash tells one form of the workload from another.
    const key = `${launch.name}@${keyOf({ launch, transport, port, host })}`;
    if (transport === 'stdio') {
      const variables = { MCP_TRANSPORT: transport, ...launch.env };
      prepared.set(key, { launch: { ...launch, env: variables }, isHttp: false, port: undefined });
      return { kind: transport, key };
    }
    if (hasOwnNetwork(launch)) return await planInside(key, launch, transport, port ?? INSIDE_PORT);
    const chosen = port ?? prepared.get(key)?.port ?? (await freePort());
    const variables = { ...portVariables(transport, host, chosen), ...launch.env };
    prepared.set(key, { launch: { ...launch, env: variables }, isHttp: true, port: chosen });
    return { kind: transport, key, url: `http://${inUrl(host)}:${chosen}${transport === 'sse' ? '/sse' : '/mcp'}` };
  }

  /** No port of this machine is opened: the relay inside leads from a socket file to the port there. */
  async function planInside(
    key: WorkloadKey,
    launch: Launch,
    transport: 'streamable-http' | 'sse',
    port: number,
  ): Promise<PlannedWorkload> {
    sockets ??= makeSocketFolder(launch);
    const socket = join(await sockets, `${key.slice(-16)}.sock`);
    const variables = { ...portVariables(transport, '127.0.0.1', port), ...launch.env };
    prepared.set(key, {
      launch: listening({ ...launch, env: variables }, { port, socket }),
      isHttp: true,
      port: undefined,
    });
    return { kind: transport, key, url: `http://127.0.0.1:${port}${transport === 'sse' ? '/sse' : '/mcp'}`, socket };
  }

  async function makeSocketFolder(launch: Launch): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'sally-sockets-'));
    // When we are killed, the guardian clears it away with the containers or processes.
    if (launch.kind !== 'container') guardian.sweep(folder);
    else if (!/\s/.test(folder)) engines.guardianAt(launch.engine).watch(folder);
    return folder;
  }

  const start: StartWorkload = (key, listener) => {
    const wanted = prepared.get(key);
    if (!wanted) throw new SallyError('internal.bug', `the workload ${key} was never planned`);
    const { launch, isHttp, port } = wanted;
    const holder = port === undefined ? undefined : holders.get(port);
    let hide = (text: string, length?: number): string => text.slice(0, length);
    const process = (holder?.close() ?? Promise.resolve()).then(() => {
      const supervised = startWorkload(launch, {
        guardian,
        engines,
        log,
        env,
        stdout: isHttp ? 'free' : 'messages',
        onWords,
        listener: {
          started(send, mask) {
            hide = mask;
            listener.started(send, mask);
          },
          line(line) {
            // Over HTTP a server has nothing to say on stdout but words for people.
            if (isHttp) onWords?.(printable(hide(line, LONGEST_WORDS)));
            listener.line(line);
          },
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
    if (sockets) await rm(await sockets, { recursive: true, force: true });
    await engines.close();
  }

  return {
    plan,
    findEngine: (wanted) => engines.find(env, wanted),
    keepOnly(keys) {
      for (const key of prepared.keys()) if (!keys.has(key)) prepared.delete(key);
    },
    start,
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Whether a port of the server is none of this machine. */
function hasOwnNetwork(launch: Launch): boolean {
  if (launch.kind === 'container') return true;
  return launch.confinement !== undefined && launch.confinement.network.kind !== 'open';
}

function listening(launch: Launch, listens: NonNullable<ContainerLaunch['listens']>): Launch {
  if (launch.kind === 'container') return { ...launch, listens };
  return launch.confinement ? { ...launch, confinement: { ...launch.confinement, listens } } : launch;
}

/** The names under which the usual server frameworks look for their transport and port. */
function portVariables(transport: string, host: string, port: number): Readonly<Record<string, string>> {
  return {
    MCP_TRANSPORT: transport,
    MCP_HOST: host,
    MCP_PORT: String(port),
    FASTMCP_PORT: String(port),
    PORT: String(port),
  };
}

/** IPv6 addresses stand in brackets in a URL. */
function inUrl(host: string): string {
  return host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
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
