import type { Command } from 'commander';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';

export function addCrdsCommand(program: Command, shell: Shell): void {
  program
    .command('crds')
    .description('print the CustomResourceDefinitions, ready for kubectl apply -f -')
    .addHelpText('after', examples(['crds > crds.yaml', 'to look at them, or for: kubectl apply -f crds.yaml']))
    .action(async () => {
      const { crdYaml } = await import('../../resources/index.ts');
      shell.out(await crdYaml());
    });
}
