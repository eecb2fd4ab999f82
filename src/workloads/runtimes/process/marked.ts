import { readdirSync, readFileSync } from 'node:fs';
import { setImmediate as breathe } from 'node:timers/promises';
import { MARK_VARIABLE } from './environment.ts';

/** A machine may run thousands of processes, and calls must not wait while we look at them. This many take about two milliseconds. */
const AT_ONCE = 64;

/**
 * The processes that carry a mark, wherever they went: a process may leave its group and its session (`setsid`), but it keeps
 * the environment it was started with unless it takes care not to. Only Linux shows it to us; elsewhere nothing is found.
 * We ourselves and the guardian never carry the mark of a server.
 */
export async function findMarked(mark: string, among: readonly number[] = allProcesses()): Promise<number[]> {
  const variable = `\0${MARK_VARIABLE}=${mark}\0`;
  const found: number[] = [];
  for (const [index, pid] of among.entries()) {
    if (pid !== process.pid && environmentOf(pid).includes(variable)) found.push(pid);
    if (index % AT_ONCE === AT_ONCE - 1) await breathe();
  }
  return found;
}

function allProcesses(): number[] {
  if (process.platform !== 'linux') return [];
  try {
    return readdirSync('/proc').map(Number).filter(Number.isInteger);
  } catch {
    return []; // A machine that keeps /proc from us: the process group has to do.
  }
}

function environmentOf(pid: number): string {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`;
  } catch {
    return ''; // It ended while we looked, or belongs to somebody else.
  }
}
