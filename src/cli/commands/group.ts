import type { Command } from 'commander';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { isDebug, lifecycleFor } from '../lifecycle.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json, table } from '../output.ts';

export function addGroupCommands(program: Command, shell: Shell): void {
  const group = program.command('group').description('workloads that belong together');

  group
    .command('create')
    .description('make a group')
    .argument('<name>', 'lowercase letters, digits, dashes and underscores')
    .addHelpText('after', examples(['group create tools', 'then: sally run --group tools SERVER']))
    .action(async (name: string, _options: object, command: Command) => {
      const { createGroup } = await import('../../control/lifecycle/index.ts');
      await createGroup(name, await lifecycleFor(command, shell));
    });

  group
    .command('list')
    .description('show the groups and who is in them')
    .addOption(formatOption())
    .addHelpText('after', examples(['group list --format json', 'for scripts']))
    .action(async ({ format }: { readonly format: OutputFormat }, command: Command) => {
      const { listGroups } = await import('../../control/lifecycle/index.ts');
      const groups = await listGroups(await lifecycleFor(command, shell));
      if (format === 'json') return shell.out(json(groups));
      shell.out(
        table(
          ['GROUP', 'WORKLOADS'],
          groups.map(({ name, workloads }) => [name, workloads.join(', ')]),
        ),
      );
    });

  group
    .command('rm')
    .description('remove a group')
    .argument('<name>', 'name of the group')
    .option('--with-workloads', 'end and remove its workloads too')
    .option('--keep-workloads', 'move its workloads to the default group')
    .addHelpText('after', examples(['group rm tools --keep-workloads', 'its workloads go on in the group default']))
    .action(async (name: string, options: { withWorkloads?: boolean; keepWorkloads?: boolean }, command: Command) => {
      const { removeGroup } = await import('../../control/lifecycle/index.ts');
      const workloads = options.withWorkloads ? 'remove' : options.keepWorkloads ? 'keep' : undefined;
      await removeGroup(name, workloads, await lifecycleFor(command, shell));
    });

  group
    .command('run')
    .description('start every workload of a group, those that were stopped too')
    .argument('<name>', 'name of the group')
    .addOption(formatOption())
    .addHelpText('after', examples(['group run tools', 'everything in it runs afterwards']))
    .action(async (name: string, { format }: { readonly format: OutputFormat }, command: Command) => {
      const { forEach, select, start } = await import('../../control/lifecycle/index.ts');
      const parts = await lifecycleFor(command, shell, { patient: true });
      const members = await select({ names: [], group: name }, parts);
      const started = await forEach(members, (member) => start(member, parts, { wait: true, debug: isDebug(command) }));
      if (format === 'json') return shell.out(json(started));
      if (started.length === 0) return shell.out(`There is nothing in ${name} yet: sally run --group ${name} SERVER\n`);
      shell.out(
        table(
          ['NAME', 'URL'],
          started.map(({ name: member, url }) => [member, url ?? '']),
        ),
      );
    });
}
