import type { Command } from 'commander';
import type { Secrets } from '../control/chosen/index.ts';
import type { LifecycleParts } from '../control/lifecycle/index.ts';
import { logFor, type Shell } from './cli.ts';
import { openSecrets } from './commands/secret.ts';

/** What the commands about workloads work with. */
export async function lifecycleFor(command: Command, shell: Shell, { patient = false } = {}): Promise<LifecycleParts> {
  const { createGroups, createWorkloadStore } = await import('../control/lifecycle/index.ts');
  let secrets: Promise<Secrets> | undefined;
  return {
    store: createWorkloadStore(shell.env),
    groups: createGroups(shell.env),
    env: shell.env,
    self: shell.self,
    secrets() {
      secrets ??= openSecrets(shell);
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
