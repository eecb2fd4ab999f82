import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { isSameProcess, selfIdentity } from '../../../base/files/index.ts';
import { stateFolder } from '../../../base/index.ts';
import type { Environment } from '../../launch.ts';

/** Only what carries these is ever touched. */
export const LABEL = {
  workload: 'dev.sallyport/workload',
  role: 'dev.sallyport/role',
  owner: 'dev.sallyport/owner',
  home: 'dev.sallyport/home',
} as const;

export type Role = 'server' | 'relay' | 'build';

/** Whose a container is: the workload, the process that keeps it, and the folder in which that keeps its state. */
export function labelsFor(workload: string, role: Role, env: Environment): Record<string, string> {
  const { pid, born } = selfIdentity();
  return {
    [LABEL.workload]: workload,
    [LABEL.role]: role,
    [LABEL.owner]: `${pid} ${born}`,
    [LABEL.home]: homeOf(env),
  };
}

/** Engines may serve several users and machines: what belongs to another home is none of our business. */
export function homeOf(env: Environment): string {
  return createHash('sha256')
    .update(`${hostname()}\n${stateFolder(env)}`)
    .digest('hex')
    .slice(0, 24);
}

/** Whether the process that made it still runs. What cannot be read is left alone. */
export function hasOwner(labels: Readonly<Record<string, string>>): boolean {
  const [, pid, born] = /^([0-9]+) (.+)$/.exec(labels[LABEL.owner] ?? '') ?? [];
  return pid === undefined || born === undefined || isSameProcess({ pid: Number(pid), born });
}
