import { isSameProcess } from '../../base/files/index.ts';
import type { WorkloadStore } from '../../workloads/index.ts';
import { endSupervisor } from './end-supervisor.ts';
import { keptSecretsOf } from './handed-secrets.ts';
import type { LifecycleParts } from './parts.ts';
import { known } from './select.ts';
import { forgetKept, type Started, type StartOptions, start } from './start.ts';

/** Ends a workload and remembers that it is not meant to run. Says whether it ran; stopping twice is no error. */
export async function stop(name: string, { store }: Pick<LifecycleParts, 'store'>): Promise<boolean> {
  return await store.alone(name, async () => {
    const { instance: _, ...record } = await known(name, store);
    const supervisor = await store.readSupervisor(name);
    const ran = supervisor !== undefined && isSameProcess(supervisor);
    // Written first: a supervisor that was called for and comes late reads that it is not wanted.
    await store.write(name, { ...record, wanted: 'stopped' });
    await endSupervisor(name, supervisor);
    if (record.ephemeral) await store.remove(name);
    return ran;
  });
}

/** Ends a workload and forgets it, its logs too. Says whether there was one. */
export async function remove(name: string, parts: Pick<LifecycleParts, 'store' | 'secrets' | 'log'>): Promise<boolean> {
  const { store } = parts;
  return await store.alone(name, async () => {
    if (!(await store.names()).includes(name)) return false;
    const { supervisor, keptSecrets } = await withdraw(name, store);
    await endSupervisor(name, supervisor);
    await store.remove(name);
    await forgetKept(name, () => true, keptSecrets, parts);
    return true;
  });
}

/** Removing is the way out when state is damaged, so damage must not be in its way. */
async function withdraw(name: string, store: WorkloadStore) {
  const record = await store.read(name).catch(() => undefined);
  if (record) {
    const { instance: _, ...rest } = record;
    // A full disk must not be in its way either: the record goes in a moment.
    await store.write(name, { ...rest, wanted: 'stopped' }).catch(() => {});
  }
  return {
    supervisor: await store.readSupervisor(name).catch(() => undefined),
    // What somebody typed in for this workload, and nobody else can use.
    keptSecrets: record !== undefined && keptSecretsOf(record.config).size > 0,
  };
}

/** Ends a workload and starts it anew, with secrets and files read again. */
export async function restart(name: string, parts: LifecycleParts, options: StartOptions): Promise<Started> {
  await stop(name, parts);
  return await start(name, parts, options);
}
