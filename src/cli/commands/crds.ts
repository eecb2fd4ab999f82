import type { Command } from 'commander';
import { crdYaml } from '../../resources/index.ts';
import type { Shell } from '../cli.ts';

export function addCrdsCommand(program: Command, shell: Shell): void {
  program
    .command('crds')
    .description('print the CustomResourceDefinitions, ready for kubectl apply -f -')
    .action(() => shell.out(crdYaml()));
}
