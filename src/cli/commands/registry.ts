import type { Command } from 'commander';
import { SallyError, suggest } from '../../base/index.ts';
import type { RegistryEntry } from '../../workloads/registry/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json } from '../output.ts';
import { describeEntry, entryTable, openShown, refreshOption, sayProblems } from '../registry-words.ts';

interface Options {
  readonly refresh: boolean;
  readonly format: OutputFormat;
}

export function addRegistryCommands(program: Command, shell: Shell): void {
  const registry = program.command('registry').description('see which MCP servers can be run by name');

  registry
    .command('list')
    .alias('ls')
    .description('list the servers of the registry')
    .addOption(refreshOption())
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples(
        ['registry list', 'everything that has a name'],
        ['registry list --refresh --format json', 'for scripts, and not from the cache'],
      ),
    )
    .action(async ({ refresh, format }: Options) => {
      const { label, list } = await openShown(shell);
      const { entries, problems } = await list({ refresh });
      if (format === 'json') return shell.out(json(entries));
      sayProblems(problems, shell);
      if (entries.length > 0) return shell.out(entryTable(entries));
      shell.out(`There are no servers in ${label}. Choose another with: sally config set-registry URL\n`);
    });

  registry
    .command('info')
    .description('show what the registry says about one server, and how to run it')
    .argument('<name>', 'full name, or the last part of it')
    .addOption(refreshOption())
    .addOption(formatOption())
    .addHelpText('after', examples(['registry info github', 'what it needs, and the line that runs it']))
    .action(async (name: string, { refresh, format }: Options) => {
      const entry = await find(name, refresh, shell);
      shell.out(format === 'json' ? json(entry) : await describeEntry(entry));
    });
}

async function find(name: string, refresh: boolean, shell: Shell): Promise<RegistryEntry> {
  const { label, find: findEntry, search } = await openShown(shell);
  const entry = await findEntry(name, { refresh });
  if (entry) return entry;
  const { entries } = await search(name);
  const close =
    suggest(
      name,
      entries.map((one) => one.name),
    ) ?? entries[0]?.name;
  throw new SallyError('registry.unknown_server', `${label} has no server ${JSON.stringify(name)}`, {
    hint: close ? `did you mean ${close}?` : 'sally search WORD finds names',
  });
}
