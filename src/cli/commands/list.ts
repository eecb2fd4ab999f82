import { type Command, Option } from 'commander';
import { printable } from '../../base/index.ts';
import type { WorkloadView } from '../../control/lifecycle/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { pair } from '../flags/run-flags.ts';
import { lifecycleFor } from '../lifecycle.ts';
import { json, table } from '../output.ts';
import { since } from '../since.ts';

interface Options {
  readonly all?: boolean;
  readonly group?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly format: 'text' | 'json' | 'mcpservers';
}

export function addListCommand(program: Command, shell: Shell): void {
  program
    .command('list')
    .alias('ls')
    .description('show the workloads, where they answer, and what to do where one does not')
    .option('-a, --all', 'those that are stopped too')
    .option('--group <group>', 'only those of a group')
    .option('-l, --label <key=value>', 'only those with this label, repeatable', pair('key=value'))
    .addOption(
      new Option('--format <format>', 'how to print the answer; mcpservers is what many clients read')
        .choices(['text', 'json', 'mcpservers'])
        .default('text'),
    )
    .addHelpText(
      'after',
      examples(
        ['list --all', 'everything there is'],
        ['list --group tools --format mcpservers', 'a group, for the configuration of a client'],
      ),
    )
    .action(async (options: Options, command: Command) => {
      const { lookAtAll } = await import('../../control/lifecycle/index.ts');
      const { store, groups } = await lifecycleFor(command, shell);
      if (options.group !== undefined) await groups.check(options.group);
      const found = await lookAtAll(store);
      const shown = found.filter((view) => isMeant(view, options));
      switch (options.format) {
        case 'json':
          return shell.out(json(shown));
        case 'mcpservers':
          return shell.out(json(mcpServers(shown)));
        case 'text':
          return shell.out(shown.length === 0 ? nothing(found.length) : asTable(shown));
      }
    });
}

function isMeant(view: WorkloadView, { all, group, label = {} }: Options): boolean {
  if (!all && view.status === 'stopped') return false;
  if (group !== undefined && view.group !== group) return false;
  return Object.entries(label).every(([key, value]) => view.labels?.[key] === value);
}

function asTable(views: readonly WorkloadView[]): string {
  const rows = views.map((view) => [
    printable(view.name, 100),
    printable(view.source ?? '', 60),
    view.status,
    view.url ?? '',
    view.group ?? '',
    view.startedAt === undefined ? '' : since(view.startedAt),
    view.status === 'running' ? '' : (view.repair ?? ''),
  ]);
  return table(['NAME', 'SOURCE', 'STATUS', 'URL', 'GROUP', 'UPTIME', 'WHAT TO DO'], rows);
}

function nothing(hidden: number): string {
  return hidden === 0
    ? 'There are no workloads yet. Start with: sally run npx://@modelcontextprotocol/server-everything\n'
    : 'None of the workloads fits. sally list --all shows those that are stopped too.\n';
}

/** The form that many clients read. */
function mcpServers(views: readonly WorkloadView[]): object {
  const entries = views.flatMap(({ name, url, proxyMode }) =>
    url === undefined ? [] : [[name, { type: proxyMode === 'sse' ? 'sse' : 'http', url }] as const],
  );
  return { mcpServers: Object.fromEntries(entries) };
}
