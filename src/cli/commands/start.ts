import type { Command } from 'commander';
import type { LifecycleParts, Started } from '../../control/lifecycle/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { parseYes } from '../flags/run-flags.ts';
import { addSelection, type SelectionFlags, selectionOf } from '../flags/selection.ts';
import { isDebug, lifecycleFor } from '../lifecycle.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json, table } from '../output.ts';

interface Options extends SelectionFlags {
  readonly wait: boolean;
  readonly format: OutputFormat;
}

export function addStartCommand(program: Command, shell: Shell): void {
  withStarting(program.command('start').description('start workloads that are not running'))
    .addHelpText(
      'after',
      examples(['start notes', 'one'], ['start --all', 'after a reboot: everything that was meant to run']),
    )
    .action(async (names: readonly string[], options: Options, command: Command) => {
      const { forEach, select, start } = await import('../../control/lifecycle/index.ts');
      const parts = await lifecycleFor(command, shell, { patient: true });
      const meant = await select(selectionOf(names, options), parts);
      // All means what was running: a workload that somebody stopped stays stopped.
      const chosen = options.all ? await wantedOf(meant, parts) : meant;
      const how = { wait: options.wait, debug: isDebug(command) };
      tell(await forEach(chosen, (name) => start(name, parts, how)), options.format, shell);
    });
}

export function addRestartCommand(program: Command, shell: Shell): void {
  withStarting(program.command('restart').description('end workloads and start them anew'))
    .addHelpText('after', examples(['restart notes', 'one'], ['restart --group tools', 'all of a group']))
    .action(async (names: readonly string[], options: Options, command: Command) => {
      const { forEach, restart, select } = await import('../../control/lifecycle/index.ts');
      const parts = await lifecycleFor(command, shell, { patient: true });
      const meant = await select(selectionOf(names, options), parts);
      const chosen = options.all ? await wantedOf(meant, parts) : meant;
      const how = { wait: options.wait, debug: isDebug(command) };
      tell(await forEach(chosen, (name) => restart(name, parts, how)), options.format, shell);
    });
}

function withStarting(command: Command): Command {
  return addSelection(command)
    .option('--wait <yes>', 'come back when the servers answer, or failed', parseYes, true)
    .addOption(formatOption());
}

async function wantedOf(names: readonly string[], { store }: LifecycleParts): Promise<readonly string[]> {
  const wanted = names.map(async (name) => {
    // One that cannot be read fails when it is started, beside the others that do not.
    const record = await store.read(name).catch(() => 'unreadable' as const);
    return record === 'unreadable' || (record?.wanted === 'running' && !record.ephemeral);
  });
  const answers = await Promise.all(wanted);
  return names.filter((_, index) => answers[index]);
}

function tell(started: readonly Started[], format: OutputFormat, shell: Shell): void {
  shell.out(format === 'json' ? json(started) : describe(started));
}

function describe(started: readonly Started[]): string {
  if (started.length === 0) return 'There is nothing to start.\n';
  const rows = started.map(({ name, url, already }) => [name, url ?? '', already ? 'ran already' : '']);
  return table(['NAME', 'URL', ''], rows);
}
