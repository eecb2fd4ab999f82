import { type Command, Option } from 'commander';
import type { Shell } from '../cli.ts';
import { isDebug, lifecycleFor } from '../lifecycle.ts';

/** What `run` and `start` call for each workload. People have no use for it. */
export function addSuperviseCommand(program: Command, shell: Shell): void {
  program
    .command('supervise', { hidden: true })
    .argument('<name>')
    .addOption(new Option('--instance <id>').makeOptionMandatory())
    .action(async (name: string, { instance }: { readonly instance: string }, command: Command) => {
      const { supervise } = await import('../../control/supervisor/index.ts');
      const { readHanded } = await import('../handed.ts');
      const { store, env, stop } = await lifecycleFor(command, shell, { patient: true });
      await supervise(name, instance, {
        store,
        env,
        stop,
        version: shell.version,
        debug: isDebug(command),
        tell: () => {},
        resolveSecrets: await readHanded(shell),
      });
    });
}
