import type { Command } from 'commander';
import type { Shell } from '../cli.ts';

export function addCrdsCommand(program: Command, shell: Shell): void {
  program
    .command('crds')
    .description('print the CustomResourceDefinitions, ready for kubectl apply -f -')
    .action(async () => {
      const { crdYaml } = await import('../../resources/index.ts');
      shell.out(await crdYaml());
    });
}
