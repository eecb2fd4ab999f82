import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { replaceFile, withLock } from '../../base/files/index.ts';
import { codeOf, SallyError, stateFolder } from '../../base/index.ts';
import type { Environment } from '../launch.ts';
import { checkWorkloadName } from '../name.ts';
import { type Changes, changesOf } from './changes.ts';
import {
  formatWorkload,
  INSTANCE_FILE,
  SUPERVISOR_FILE,
  type SupervisorRecord,
  type WorkloadRecord,
  workloadFile,
} from './records.ts';
import { formatVersioned, readVersioned } from './versioned.ts';

/** One command may wait for another that lets a server finish its calls. */
const WAIT_FOR_OTHERS = 120_000;
/** Locks are never deleted, so there is a fixed number of them. Two workloads that share one only take turns. */
const LOCKS = 64;

/** Where workloads are remembered: a folder for each, with what commands decided, what its supervisor says, and its logs. */
export interface WorkloadStore {
  /** Every name there is, readable or not. */
  names(): Promise<readonly string[]>;
  read(name: string): Promise<WorkloadRecord | undefined>;
  /** The one supervisor that may take the workload up. */
  instanceOf(name: string): Promise<string | undefined>;
  write(name: string, record: WorkloadRecord): Promise<void>;
  readSupervisor(name: string): Promise<SupervisorRecord | undefined>;
  writeSupervisor(name: string, record: SupervisorRecord): Promise<void>;
  /** When the supervisor says something new about itself. */
  supervisorChanges(name: string): Changes;
  remove(name: string): Promise<void>;
  /** Does something while no other command changes the same workload. */
  alone<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** What the server says, or what its supervisor says. */
  logFile(name: string, whose: 'server' | 'supervisor'): string;
  /** The folder for sockets. */
  readonly sockets: string;
}

export function createWorkloadStore(env: Environment): WorkloadStore {
  const home = stateFolder(env);
  const workloads = join(home, 'workloads');
  const removed = join(home, 'removed');

  function folderOf(name: string): string {
    checkWorkloadName(name); // it becomes a path
    return join(workloads, name);
  }

  const recordOf = (name: string): string => join(folderOf(name), 'workload.json');
  const repairOf = (name: string): string => `restore the file, or remove the workload with: sally rm ${name}`;

  return {
    async names() {
      const entries = await listFolder(workloads);
      return entries
        .filter((entry) => entry.isDirectory())
        .map((entry) => entry.name)
        .sort();
    },
    read(name) {
      const path = recordOf(name);
      return workloadFile().then((form) => readVersioned(path, form, repairOf(name)));
    },
    instanceOf: async (name) => (await readVersioned(recordOf(name), INSTANCE_FILE, repairOf(name)))?.instance,
    write: (name, record) => written(recordOf(name), formatWorkload(record)),
    readSupervisor: (name) => readVersioned(join(folderOf(name), 'supervisor.json'), SUPERVISOR_FILE, repairOf(name)),
    supervisorChanges: (name) => changesOf(folderOf(name), 'supervisor.json'),
    writeSupervisor: (name, record) =>
      written(join(folderOf(name), 'supervisor.json'), formatVersioned(SUPERVISOR_FILE.version, { ...record })),

    async remove(name) {
      try {
        await mkdir(removed, { recursive: true, mode: 0o700 });
        // In one step, so that nobody ever sees half a workload. What an interrupted command left there goes as well.
        await rename(folderOf(name), join(removed, randomBytes(9).toString('base64url')));
      } catch (error) {
        // Where there is no room to put it aside, removing it makes some.
        if (isFull(error)) await rm(folderOf(name), { recursive: true, force: true });
        else if (codeOf(error) !== 'ENOENT') throw unwritable(home, error);
      }
      for (const { name: left } of await listFolder(removed))
        await rm(join(removed, left), { recursive: true, force: true, maxRetries: 3 }).catch(() => {}); // the next one tries again
    },

    alone: (name, work) => withLock(lockOf(home, name), work, { within: WAIT_FOR_OTHERS }),
    logFile: (name, whose) => join(folderOf(name), `${whose}.log`),
    sockets: join(home, 'sockets'),
  };
}

function lockOf(home: string, name: string): string {
  const number = createHash('sha256').update(name).digest().readUInt16BE() % LOCKS;
  return join(home, 'locks', `workloads-${number}`);
}

/** What is in a folder; nothing when there is none. */
export async function listFolder(path: string) {
  return await readdir(path, { withFileTypes: true }).catch((cause: unknown) => {
    if (codeOf(cause) === 'ENOENT') return [];
    throw new SallyError('state.unreadable', `${path} cannot be read`, { cause, hint: 'check its permissions' });
  });
}

export async function written(path: string, text: string): Promise<void> {
  await replaceFile(path, text).catch((cause: unknown) => {
    throw unwritable(path, cause);
  });
}

function unwritable(path: string, cause: unknown): SallyError {
  if (isFull(cause)) {
    return new SallyError('state.unwritable', `${path} cannot be written: the disk is full`, {
      cause,
      hint: 'make room there, or remove a workload with: sally rm NAME',
    });
  }
  return new SallyError('state.unwritable', `${path} cannot be written`, {
    cause,
    hint: 'check its permissions and the disk, or choose another folder with SALLYPORT_HOME',
  });
}

/** No room on the disk, or none that this user may take. */
function isFull(error: unknown): boolean {
  return ['ENOSPC', 'EDQUOT'].includes(codeOf(error) ?? '');
}
