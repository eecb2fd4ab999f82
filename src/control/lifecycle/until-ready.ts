import type { ChildProcess } from 'node:child_process';
import { isSameProcess } from '../../base/files/index.ts';
import { SallyError } from '../../base/index.ts';
import { type SupervisorRecord, tailLog } from '../../workloads/index.ts';
import type { LifecycleParts } from './parts.ts';

/** It is looked as soon as the supervisor says something, and this often besides: it may end without a word. */
const LOOK_EVERY = 50;
const SAY_EVERY = 5_000;
const LAST_LINES = 15;

/** The supervisor that this command called for; nothing when there was one already. */
export interface Called {
  readonly child: ChildProcess | undefined;
  readonly instance: string | undefined;
}

/**
 * Waits until the server of a workload answers, and gives its URL. Fails with the reason and its last words when it does not come
 * up; gives nothing when somebody stopped it, or had enough of waiting.
 */
export async function untilReady(
  name: string,
  { child, instance }: Called,
  { store, log, stop }: Pick<LifecycleParts, 'store' | 'log' | 'stop'>,
): Promise<string | undefined> {
  using changes = store.supervisorChanges(name);
  let said = performance.now();
  while (!stop.aborted) {
    const ended =
      child === undefined || child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
    const record = await store.readSupervisor(name);
    const alive = record !== undefined && isSameProcess(record);
    if (record && alive && record.phase === 'running') return record.url;
    if (!alive && ended) {
      if (!(await store.read(name))) return undefined; // removed while we waited
      // What an earlier supervisor said about its end does not explain the end of this one.
      if (!record || (instance !== undefined && record.instance !== instance)) throw await silent(name, store);
      return await whyNot(name, record, store);
    }
    if (performance.now() - said > SAY_EVERY) {
      log.info('still waiting for the server to answer', { workload: name });
      said = performance.now();
    }
    await changes.next(LOOK_EVERY);
  }
  return undefined;
}

async function whyNot(
  name: string,
  { phase, error }: SupervisorRecord,
  store: LifecycleParts['store'],
): Promise<undefined> {
  if (phase === 'stopped') return undefined;
  if (phase !== 'failed' || !error) throw await silent(name, store);
  const words = error.message.includes('\n') ? '' : await lastLines(name, store, 'server');
  throw new SallyError(error.code, `${error.message}${words}`, error.hint === undefined ? {} : { hint: error.hint });
}

/** The supervisor is gone and left no reason. */
async function silent(name: string, store: LifecycleParts['store']): Promise<SallyError> {
  const words = await lastLines(name, store, 'supervisor');
  return new SallyError('workload.not_answering', `the supervisor of ${name} ended without a word${words}`, {
    hint: 'somebody may have killed it; often that is the system, out of memory',
  });
}

async function lastLines(
  name: string,
  store: LifecycleParts['store'],
  whose: 'server' | 'supervisor',
): Promise<string> {
  const text = (await tailLog(store.logFile(name, whose), LAST_LINES)).trimEnd();
  return text === '' ? '' : `. The last lines of its log:\n${text.replace(/^/gm, '  ')}`;
}
