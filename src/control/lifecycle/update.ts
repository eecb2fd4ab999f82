import { isDeepStrictEqual } from 'node:util';
import { isSameProcess } from '../../base/files/index.ts';
import { SallyError, toSallyError } from '../../base/index.ts';
import type { RunConfig } from '../../resources/index.ts';
import { endSupervisor } from './end-supervisor.ts';
import type { LifecycleParts } from './parts.ts';
import { known } from './select.ts';
import { type Started, start } from './start.ts';

export interface Updated extends Started {
  /** Nothing was different. */
  readonly unchanged: boolean;
}

/**
 * Gives a workload a new form. One that runs is ended and started in the new form; when that does not come up, the old form is
 * put back and started, and the reason is told.
 */
export async function update(
  name: string,
  change: (config: RunConfig) => Promise<RunConfig>,
  parts: LifecycleParts,
  debug: boolean,
): Promise<Updated> {
  const { store, groups } = parts;
  const before = await store.alone(name, async () => {
    const record = await known(name, store);
    if (record.ephemeral) throw inForeground(name);
    const next = await change(record.config);
    await groups.check(next.group);
    const supervisor = await store.readSupervisor(name);
    const ran = supervisor !== undefined && isSameProcess(supervisor);
    if (isDeepStrictEqual(next, record.config)) return { record, ran, unchanged: true };
    const { instance: _, ...rest } = record;
    if (ran) await endSupervisor(name, supervisor);
    await store.write(name, { ...rest, config: next });
    return { record, ran, unchanged: false };
  });
  const { record, ran, unchanged } = before;
  if (unchanged || !ran) return { name, already: false, unchanged };
  try {
    const started = await start(name, parts, { wait: true, debug });
    return { ...started, unchanged };
  } catch (thrown) {
    const { code, message, hint } = toSallyError(thrown);
    await store.alone(name, async () => {
      await endSupervisor(name, await store.readSupervisor(name));
      await store.write(name, { ...record, wanted: 'running' });
    });
    const back = await start(name, parts, { wait: true, debug }).catch(toSallyError);
    const now =
      back instanceof SallyError
        ? `and the old form does not start any more: ${back.message}`
        : 'so the old form runs again';
    throw new SallyError(
      code,
      `${name} does not come up in its new form, ${now}\n${message}`,
      hint === undefined ? {} : { hint },
    );
  }
}

function inForeground(name: string): SallyError {
  return new SallyError('usage.invalid', `${name} runs in the foreground of another terminal`, {
    hint: 'end it there, and run it with the other flags',
  });
}
