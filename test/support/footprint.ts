import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { TestEngine } from './engine.ts';
import { type WorkloadHome, withEnv, workloadHome } from './workloads.ts';

/** Everything that workloads of a home may leave on a machine. Equal before and after means that nothing leaks. */
export interface Footprint {
  /** Started from this home, and still running. */
  readonly processes: number;
  /** All of the engine, ours or not. */
  readonly containers: number;
  readonly networks: number;
  readonly volumes: number;
  /** State, logs, sockets and drafts. Locks stay (docs/decisions/0022-locks-borrowed-from-sqlite.md). */
  readonly files: readonly string[];
  /** Below the folder for temporary files. */
  readonly temporary: readonly string[];
}

/** A home whose temporary files lie in a folder of their own, so that they can be counted. */
export async function countedHome(engine?: TestEngine): Promise<WorkloadHome> {
  const home = await workloadHome(['good', 'deaf']);
  const temporary = temporaryOf(home);
  await mkdir(temporary);
  return withEnv(home, { ...(engine?.env ?? {}), TMPDIR: temporary });
}

const temporaryOf = (home: WorkloadHome): string => join(home.folder, 'tmp');

export async function footprint(home: WorkloadHome, engine?: TestEngine): Promise<Footprint> {
  const count = async (...words: string[]): Promise<number> => {
    const said = engine ? await engine.cli(...words) : '';
    return said.split('\n').filter((line) => line !== '').length;
  };
  return {
    processes: home.processes().length,
    containers: await count('ps', '-aq'),
    networks: await count('network', 'ls', '-q'),
    volumes: await count('volume', 'ls', '-q'),
    files: (await below(join(home.folder, 'home'), 'files')).filter((path) => !path.includes('/locks/')),
    temporary: await below(temporaryOf(home), 'all'),
  };
}

async function below(folder: string, which: 'files' | 'all'): Promise<readonly string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => which === 'all' || !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length))
    .sort();
}
