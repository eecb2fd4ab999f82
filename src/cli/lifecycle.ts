import type { Command } from 'commander';
import type { LifecycleParts } from '../control/lifecycle/index.ts';
import { logFor, type Shell } from './cli.ts';
import { secretParts } from './commands/secret.ts';

/** What the commands about workloads work with. */
export async function lifecycleFor(command: Command, shell: Shell, { patient = false } = {}): Promise<LifecycleParts> {
  const { createGroups, createWorkloadStore } = await import('../workloads/index.ts');
  const { openSecrets } = await import('../control/chosen/index.ts');
  let secrets: ReturnType<typeof openSecrets> | undefined;
  return {
    store: createWorkloadStore(shell.env),
    groups: createGroups(shell.env),
    env: shell.env,
    self: shell.self,
    secrets() {
      secrets ??= openSecrets(secretParts(shell));
      return secrets;
    },
    log: logFor(command, shell),
    // Commands that wait for something clean up when they are interrupted; the others end as every program does.
    stop: patient ? shell.untilStopped() : new AbortController().signal,
  };
}

export function isDebug(command: Command): boolean {
  return command.optsWithGlobals<{ debug?: boolean }>().debug === true;
}
