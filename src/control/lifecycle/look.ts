import { isSameProcess } from '../../base/files/index.ts';
import { toSallyError } from '../../base/index.ts';
import type { RunConfig } from '../../resources/index.ts';
import type { SupervisorRecord, WorkloadRecord, WorkloadStore } from '../../workloads/index.ts';
import { askSupervisor } from './ask-supervisor.ts';
import type { LiveStatus } from './control-socket.ts';

export type WorkloadStatus =
  | 'starting'
  | 'running'
  | 'unhealthy' // the server does not answer right now; it is tried again
  | 'stopping'
  | 'stopped'
  | 'failed' // it kept ending and was given up
  | 'lost' // it should run, but whoever kept it running is gone
  | 'hanging' // its supervisor is there and does not answer
  | 'broken'; // its state cannot be read

/** A workload as people and scripts want to see it. */
export interface WorkloadView {
  readonly name: string;
  readonly status: WorkloadStatus;
  readonly source?: string;
  readonly url?: string;
  readonly group?: string;
  readonly transport?: RunConfig['transport'];
  readonly proxyMode?: RunConfig['proxy_mode'];
  readonly remote?: boolean;
  readonly port?: number;
  readonly labels?: Readonly<Record<string, string>>;
  readonly tools?: number;
  readonly revision?: string;
  readonly createdAt?: string;
  /** Since when it runs. */
  readonly startedAt?: string;
  readonly pid?: number;
  readonly foreground?: boolean;
  readonly error?: string;
  /** What to do about it. */
  readonly repair?: string;
}

/** How all workloads are. Looks and asks, and never writes: two who look see the same. */
export async function lookAtAll(store: WorkloadStore): Promise<readonly WorkloadView[]> {
  return await Promise.all((await store.names()).map((name) => look(name, store)));
}

export async function look(name: string, store: WorkloadStore): Promise<WorkloadView> {
  try {
    const record = await store.read(name);
    if (!record)
      return { name, status: 'broken', error: 'its file workload.json is missing', repair: `sally rm ${name}` };
    const supervisor = await store.readSupervisor(name);
    const isAlive = supervisor !== undefined && isSameProcess(supervisor);
    const live = isAlive ? await askSupervisor(supervisor) : undefined;
    return { ...factsOf(name, record), ...stateOf(name, record, supervisor, isAlive, live) };
  } catch (thrown) {
    const { message, hint } = toSallyError(thrown);
    return { name, status: 'broken', error: message, repair: hint ?? `sally rm ${name}` };
  }
}

function factsOf(name: string, { config, createdAt, ephemeral }: WorkloadRecord): Omit<WorkloadView, 'status'> {
  return {
    name,
    source: config.registry_server_name ?? config.remote_url ?? config.image ?? '',
    group: config.group,
    transport: config.transport,
    proxyMode: config.proxy_mode,
    remote: config.remote_url !== undefined,
    labels: config.container_labels,
    createdAt,
    foreground: ephemeral,
  };
}

type State = Pick<WorkloadView, 'status'> & Partial<WorkloadView>;

function stateOf(
  name: string,
  { wanted, createdAt }: WorkloadRecord,
  supervisor: SupervisorRecord | undefined,
  isAlive: boolean,
  live: LiveStatus | undefined,
): State {
  if (supervisor && isAlive) {
    const facts = { pid: supervisor.pid, startedAt: supervisor.since, ...addressOf(supervisor.url) };
    if (!live)
      return { ...facts, status: 'hanging', error: 'its supervisor does not answer', repair: `sally restart ${name}` };
    return { ...facts, ...liveState(name, wanted, live) };
  }
  if (supervisor?.phase === 'failed') {
    const [error = ''] = (supervisor.error?.message ?? '').split('\n', 1);
    return { status: 'failed', error, repair: `sally logs ${name}; then sally start ${name}` };
  }
  if (wanted === 'stopped') return { status: 'stopped', repair: `sally start ${name}` };
  if (supervisor?.phase === 'stopped')
    return { status: 'stopped', error: 'it was ended from outside', repair: `sally start ${name}` };
  // Called for a moment ago, and not there yet.
  if (!supervisor && Date.now() - Date.parse(createdAt) < CALLED_WITHIN) return { status: 'starting' };
  return {
    status: 'lost',
    error: 'its supervisor is gone: killed, or the machine was restarted',
    repair: `sally start ${name}`,
  };
}

const CALLED_WITHIN = 15_000;

function liveState(name: string, wanted: WorkloadRecord['wanted'], { phase, endpoints }: LiveStatus): State {
  if (phase === 'stopping' || wanted === 'stopped') return { status: 'stopping' };
  const backend = endpoints[0]?.backends[0];
  if (phase === 'starting' || !backend) return { status: 'starting', repair: `wait, or see sally logs ${name}` };
  const { tools, revision, error } = backend;
  const facts = { ...(tools === undefined ? {} : { tools }), ...(revision === undefined ? {} : { revision }) };
  // Where each user has a connection of his own, there is none to look at before he calls.
  if (backend.state === 'ready' || backend.state === 'personal') return { ...facts, status: 'running' };
  return {
    ...facts,
    status: 'unhealthy',
    error: (error ?? 'the server is being started again').split('\n', 1)[0] ?? '',
    repair: `sally logs ${name}`,
  };
}

function addressOf(url: string | undefined): Pick<WorkloadView, 'url' | 'port'> {
  return url === undefined ? {} : { url, port: Number(new URL(url).port) };
}
