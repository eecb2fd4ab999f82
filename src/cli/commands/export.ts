import type { Command } from 'commander';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { lifecycleFor } from '../lifecycle.ts';

export function addExportCommand(program: Command, shell: Shell): void {
  program
    .command('export')
    .description('write the configuration of a workload, for sally run --from-config; secrets are references in it')
    .argument('<name>', 'name of the workload')
    .argument('[file]', 'where to write it; printed when left out')
    .addHelpText(
      'after',
      examples(
        ['export notes notes.json', 'to a file'],
        ['run --from-config notes.json', 'and back, here or elsewhere'],
      ),
    )
    .action(async (name: string, file: string | undefined, _options: object, command: Command) => {
      const { known } = await import('../../control/lifecycle/index.ts');
      const { formatRunConfig } = await import('../../resources/run-config/index.ts');
      const { store } = await lifecycleFor(command, shell);
      const text = formatRunConfig((await known(name, store)).config);
      if (file === undefined) return shell.out(text);
      const { replaceFile } = await import('../../base/files/index.ts');
      await replaceFile(file, text);
    });
}
