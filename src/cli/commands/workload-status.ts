import type { Command } from 'commander';
import { printable } from '../../base/index.ts';
import type { WorkloadView } from '../../control/lifecycle/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { lifecycleFor } from '../lifecycle.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json } from '../output.ts';
import { since } from '../since.ts';

export function addWorkloadStatusCommand(program: Command, shell: Shell): void {
  program
    .command('status')
    .description('show how one workload is')
    .argument('<name>', 'name of the workload')
    .addOption(formatOption())
    .addHelpText('after', examples(['status notes', 'for people'], ['status notes --format json', 'for scripts']))
    .action(async (name: string, { format }: { readonly format: OutputFormat }, command: Command) => {
      const { look, unknown } = await import('../../control/lifecycle/index.ts');
      const { store } = await lifecycleFor(command, shell);
      if (!(await store.names()).includes(name)) throw await unknown(name, store);
      const view = await look(name, store);
      shell.out(format === 'json' ? json(view) : describe(view));
    });
}

function describe(view: WorkloadView): string {
  const rows: readonly (readonly [string, string | number | undefined])[] = [
    ['Name', view.name],
    ['Status', view.status],
    ['Why', view.error],
    ['What to do', view.status === 'running' ? undefined : view.repair],
    ['Source', view.source],
    ['URL', view.url],
    ['Transport', view.transport],
    ['Tools', view.tools],
    ['MCP revision', view.revision],
    ['Group', view.group],
    [
      'Labels',
      Object.entries(view.labels ?? {})
        .map(([key, value]) => `${key}=${value}`)
        .join(' '),
    ],
    ['Created', view.createdAt],
    ['Uptime', view.startedAt === undefined ? undefined : since(view.startedAt)],
    [
      'Supervisor',
      view.pid === undefined ? undefined : `pid ${view.pid}${view.foreground ? ', in the foreground' : ''}`,
    ],
  ];
  return rows
    .filter(([, value]) => value !== undefined && value !== '')
    .map(([title, value]) => `${`${title}:`.padEnd(14)} ${printable(String(value))}\n`)
    .join('');
}
