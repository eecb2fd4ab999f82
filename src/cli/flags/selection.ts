import type { Command } from 'commander';
import type { Selection } from '../../control/lifecycle/index.ts';

export interface SelectionFlags {
  readonly all?: boolean;
  readonly group?: string;
}

/** Which workloads a command is about: some by name, all, or those of a group. */
export function addSelection(command: Command): Command {
  return command
    .argument('[names...]', 'names of workloads')
    .option('-a, --all', 'all workloads')
    .option('-g, --group <group>', 'all workloads of a group');
}

export function selectionOf(names: readonly string[], { all, group }: SelectionFlags): Selection {
  return { names, ...(all === undefined ? {} : { all }), ...(group === undefined ? {} : { group }) };
}
