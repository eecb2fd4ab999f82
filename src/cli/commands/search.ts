import type { Command } from 'commander';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json } from '../output.ts';
import { entryTable, openShown, refreshOption, sayProblems } from '../registry-words.ts';

export function addSearchCommand(program: Command, shell: Shell): void {
  program
    .command('search')
    .description('find MCP servers in the registry by name, description or tag')
    .argument('<words...>', 'what to look for; all words must be found')
    .addOption(refreshOption())
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples(['search web search', 'all words must be found'], ['search github --format json', 'for scripts']),
    )
    .action(
      async (
        words: readonly string[],
        { refresh, format }: { readonly refresh: boolean; readonly format: OutputFormat },
      ) => {
        const registry = await openShown(shell);
        const { entries, problems } = await registry.search(words.join(' '), { refresh });
        if (format === 'json') return shell.out(json(entries));
        sayProblems(problems, shell);
        if (entries.length > 0) return shell.out(`${entryTable(entries)}\nRun one with: sally run NAME\n`);
        shell.out(`Nothing in ${registry.label} fits. Try fewer words, or see everything with: sally registry list\n`);
      },
    );
}
