import { rm } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isSameProcess } from '../../base/files/index.ts';
import { SallyError } from '../../base/index.ts';
import type { SupervisorRecord } from '../../workloads/index.ts';
import { askSupervisor } from './ask-supervisor.ts';

/** Open calls may end, then the server gets its time to end; both have limits of their own that add up to less. */
const POLITE = 20_000;
const AFTER_SIGTERM = 5_000;
const AFTER_SIGKILL = 5_000;
const LOOK_EVERY = 30;

/** Ends a supervisor and everything it runs. Nothing happens to a process that only has the same number. */
export async function endSupervisor(name: string, record: SupervisorRecord | undefined): Promise<void> {
  if (!record) return;
  await untilGone(name, record);
  await rm(record.socket, { force: true }); // one that was killed could not do it
}

async function untilGone(name: string, record: SupervisorRecord): Promise<void> {
  if (!isSameProcess(record)) return;
  const heard = await askSupervisor(record, 'stop');
  if (heard && (await goneWithin(record, POLITE))) return;
  for (const [signal, within] of [
    ['SIGTERM', AFTER_SIGTERM],
    ['SIGKILL', AFTER_SIGKILL],
  ] as const) {
    if (await goneWithin(record, 0)) return;
    try {
      process.kill(record.pid, signal);
    } catch {
      // It went in this moment, or is out of our reach: the next look tells.
    }
    if (await goneWithin(record, within)) return;
  }
  throw new SallyError('workload.not_answering', `the supervisor of ${name} (pid ${record.pid}) cannot be ended`, {
    hint: 'look at that process; it may belong to another user, or hang in the kernel',
  });
}

/** Waits until the process is gone, and says whether it is. */
export async function goneWithin(record: SupervisorRecord, ms: number): Promise<boolean> {
  const deadline = performance.now() + ms;
  while (isSameProcess(record)) {
    if (performance.now() >= deadline) return false;
    await sleep(LOOK_EVERY);
  }
  return true;
}
