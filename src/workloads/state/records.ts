import type { ProcessIdentity } from '../../base/files/index.ts';
import { type ErrorCode, FACES } from '../../base/index.ts';
import { checkRunConfig, type RunConfig } from '../../resources/index.ts';
import type { FileForm } from './versioned.ts';

/** What commands decided about a workload. Written by commands only, one at a time. */
export interface WorkloadRecord {
  readonly config: RunConfig;
  readonly createdAt: string;
  /** Whether it is meant to run: after a reboot that is what is brought back. */
  readonly wanted: 'running' | 'stopped';
  /** It belongs to a command in the foreground and goes with it. */
  readonly ephemeral: boolean;
  /** The one supervisor that may take it up. Another that was called for it earlier and comes late ends by itself. */
  readonly instance?: string;
}

/** What the supervisor of a workload last said about itself. Written by that supervisor only. */
export interface SupervisorRecord extends ProcessIdentity {
  /** One life of a supervisor. It answers with it on its socket, which shows that it is the one that is meant. */
  readonly instance: string;
  readonly socket: string;
  readonly phase: 'starting' | 'running' | 'stopped' | 'failed';
  readonly since: string;
  readonly url?: string;
  readonly error?: Failure;
}

/** Why a workload ended, in the words of the error that ended it. */
export interface Failure {
  readonly code: ErrorCode;
  readonly message: string;
  readonly hint?: string;
}

type Fields = Readonly<Record<string, unknown>>;

export const WORKLOAD_FILE: FileForm<WorkloadRecord> = {
  what: 'workload',
  version: 1,
  migrations: {},
  parse: (fields) => ({
    config: checkRunConfig(fields.config, 'its run configuration'),
    createdAt: text(fields, 'created_at'),
    wanted: oneOf(fields, 'wanted', ['running', 'stopped']),
    ephemeral: fields.ephemeral === true,
    ...(typeof fields.instance === 'string' ? { instance: fields.instance } : {}),
  }),
};

export function workloadFields({ config, createdAt, wanted, ephemeral, instance }: WorkloadRecord): Fields {
  return { created_at: createdAt, wanted, ephemeral, instance, config };
}

export const SUPERVISOR_FILE: FileForm<SupervisorRecord> = {
  what: 'supervisor',
  version: 1,
  migrations: {},
  parse: (fields) => ({
    instance: text(fields, 'instance'),
    pid: Number(fields.pid),
    born: text(fields, 'born'),
    socket: text(fields, 'socket'),
    phase: oneOf(fields, 'phase', ['starting', 'running', 'stopped', 'failed']),
    since: text(fields, 'since'),
    ...(typeof fields.url === 'string' ? { url: fields.url } : {}),
    ...(fields.error === undefined ? {} : { error: failure(fields.error) }),
  }),
};

function failure(value: unknown): Failure {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Fields;
  const code = Object.keys(FACES).find((known) => known === fields.code) as ErrorCode | undefined;
  return {
    code: code ?? 'workload.exited',
    message: text(fields, 'message'),
    ...(typeof fields.hint === 'string' ? { hint: fields.hint } : {}),
  };
}

function text(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new Error(`${name} is missing`);
  return value;
}

function oneOf<const W extends string>(fields: Fields, name: string, words: readonly W[]): W {
  const found = words.find((word) => word === fields[name]);
  if (found === undefined) throw new Error(`${name} is none of ${words.join(', ')}`);
  return found;
}
