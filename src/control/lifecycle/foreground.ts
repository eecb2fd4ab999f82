import type { RunConfig } from '../../resources/index.ts';
import type { LifecycleParts } from './parts.ts';
import { create } from './start.ts';
import { type SuperviseParts, supervise } from './supervise.ts';

/**
 * Runs a workload in this process. It is a workload like the others while it lasts, to be listed and stopped, and nothing of it
 * is left when it is over.
 */
export async function runForeground(
  config: RunConfig,
  parts: LifecycleParts,
  running: Omit<SuperviseParts, 'store' | 'stop' | 'env'>,
): Promise<void> {
  const { store, stop, env } = parts;
  const { instance } = await create(config, parts, { ephemeral: true });
  try {
    await supervise(config.name, instance, config, { ...running, store, stop, env });
  } finally {
    // Not in turn with other commands: one that stops us waits for us in its turn, and then removes it itself.
    const record = await store.read(config.name).catch(() => undefined);
    if (record?.instance === instance) await store.remove(config.name);
  }
}
