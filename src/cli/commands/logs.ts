import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { lifecycleFor } from '../lifecycle.ts';

interface Options {
  readonly follow?: boolean;
  readonly supervisor?: boolean;
  readonly lines: number;
}

const LINES = 200;

export function addLogsCommand(program: Command, shell: Shell): void {
  program
    .command('logs')
    .description('show what a server says')
    .argument('<name>', 'name of the workload')
    .option('-f, --follow', 'stay and show what it says from now on, until Ctrl-C')
    .option('--supervisor', 'what the process says that keeps it running, and the gateway in it')
    .option('-n, --lines <count>', 'how many lines from the end', parseLines, LINES)
    .addHelpText(
      'after',
      examples(
        ['logs notes', 'the last lines'],
        ['logs -f notes', 'as they come'],
        ['logs --supervisor notes', 'why it does not start'],
      ),
    )
    .action(async (name: string, { follow, supervisor, lines }: Options, command: Command) => {
      const { followLog, tailLog, unknown } = await import('../../control/lifecycle/index.ts');
      const { store, stop } = await lifecycleFor(command, shell, { patient: follow === true });
      if (!(await store.names()).includes(name)) throw await unknown(name, store);
      const file = store.logFile(name, supervisor ? 'supervisor' : 'server');
      if (!follow) return shell.out(await tailLog(file, lines));
      for await (const text of followLog(file, lines, stop)) shell.out(text);
    });
}

function parseLines(text: string): number {
  if (!/^[0-9]{1,6}$/.test(text)) throw new InvalidArgumentError('a number of lines.');
  return Number(text);
}
