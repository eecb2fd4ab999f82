import type { Command } from 'commander';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { addSelection, type SelectionFlags, selectionOf } from '../flags/selection.ts';
import { lifecycleFor } from '../lifecycle.ts';

export function addStopCommand(program: Command, shell: Shell): void {
  addSelection(program.command('stop').description('end workloads; they can be started again'))
    .addHelpText('after', examples(['stop notes', 'one'], ['stop --group tools', 'all of a group']))
    .action(async (names: readonly string[], flags: SelectionFlags, command: Command) => {
      const { forEach, select, stop } = await import('../../control/lifecycle/index.ts');
      const parts = await lifecycleFor(command, shell);
      await forEach(await select(selectionOf(names, flags), parts), (name) => stop(name, parts));
    });
}

export function addRemoveCommand(program: Command, shell: Shell): void {
  addSelection(program.command('rm').description('end workloads and forget them, with their logs'))
    .addHelpText('after', examples(['rm notes', 'one'], ['rm --all', 'everything']))
    .action(async (names: readonly string[], flags: SelectionFlags, command: Command) => {
      const { forEach, remove, select } = await import('../../control/lifecycle/index.ts');
      const parts = await lifecycleFor(command, shell);
      await forEach(await select(selectionOf(names, flags), parts), async (name) => {
        if (!(await remove(name, parts)))
          shell.err(`there is no workload ${JSON.stringify(name)}, nothing to remove\n`);
      });
    });
}
