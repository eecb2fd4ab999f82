import { isDeepStrictEqual } from 'node:util';
import { isSameProcess } from '../../base/files/index.ts';
import { SallyError, toSallyError } from '../../base/index.ts';
import type { RunConfig } from '../../resources/index.ts';
import type { SaidConfig } from '../remote-flags.ts';
import { endSupervisor } from './end-supervisor.ts';
import { keptSecretsOf } from './handed-secrets.ts';
import type { LifecycleParts } from './parts.ts';
import { known } from './select.ts';
import { forgetKept, type Started, start } from './start.ts';

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
  change: (config: RunConfig) => Promise<SaidConfig>,
  parts: LifecycleParts,
  debug: boolean,
): Promise<Updated> {
  const { store, groups } = parts;
  const before = await store.alone(name, async () => {
    const record = await known(name, store);
    if (record.ephemeral) throw inForeground(name);
    const { config: next, said } = await change(record.config);
    await groups.check(next.group);
    const supervisor = await store.readSupervisor(name);
    const ran = supervisor !== undefined && isSameProcess(supervisor);
    if (isDeepStrictEqual(next, record.config)) return { record, next, said, ran, unchanged: true };
    const { instance: _, ...rest } = record;
    if (said.size > 0) await (await parts.secrets()).keepNamed(said);
    if (ran) await endSupervisor(name, supervisor);
    await store.write(name, { ...rest, config: next });
    return { record, next, said, ran, unchanged: false };
  });
  const { record, next, said, ran, unchanged } = before;
  if (unchanged) return { name, already: false, unchanged };
  try {
    const started = ran ? await start(name, parts, { wait: true, debug }) : { name, already: false };
    const used = keptSecretsOf(next);
    const replaced = [...keptSecretsOf(record.config).keys()].filter((secret) => !used.has(secret));
    await forgetKept(name, (secret) => replaced.includes(secret), replaced.length > 0, parts);
    return { ...started, unchanged };
  } catch (thrown) {
    const { code, message, hint } = toSallyError(thrown);
    await store.alone(name, async () => {
      await endSupervisor(name, await store.readSupervisor(name));
      await store.write(name, { ...record, wanted: 'running' });
    });
    await forgetKept(name, (secret) => said.has(secret), said.size > 0, parts);
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
