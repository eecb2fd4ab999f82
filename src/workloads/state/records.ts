import type { ProcessIdentity } from '../../base/files/index.ts';
import { type ErrorCode, FACES } from '../../base/index.ts';
import type { RunConfig } from '../../resources/index.ts';
import { type FileForm, formatVersioned } from './versioned.ts';

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

const WORKLOAD = { what: 'workload', version: 1, migrations: {} };

/** The schemas are loaded by whoever reads a whole record, which a supervisor does not. */
export async function workloadFile(): Promise<FileForm<WorkloadRecord>> {
  const { checkRunConfig } = await import('../../resources/run-config/index.ts');
  return {
    ...WORKLOAD,
    parse: (fields) => ({
      config: checkRunConfig(fields.config, 'its run configuration'),
      createdAt: text(fields, 'created_at'),
      wanted: oneOf(fields, 'wanted', ['running', 'stopped']),
      ephemeral: fields.ephemeral === true,
      ...instanceIn(fields),
    }),
  };
}

/** Of the same file that one field. */
export const INSTANCE_FILE: FileForm<Pick<WorkloadRecord, 'instance'>> = { ...WORKLOAD, parse: instanceIn };

function instanceIn({ instance }: Fields): Pick<WorkloadRecord, 'instance'> {
  return typeof instance === 'string' ? { instance } : {};
}

export function formatWorkload({ config, createdAt, wanted, ephemeral, instance }: WorkloadRecord): string {
  return formatVersioned(WORKLOAD.version, { created_at: createdAt, wanted, ephemeral, instance, config });
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
