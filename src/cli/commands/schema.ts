import type { Command } from 'commander';
import { SallyError, suggest } from '../../base/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { json } from '../output.ts';

export function addSchemaCommand(program: Command, shell: Shell): void {
  program
    .command('schema')
    .description('print the JSON Schema of a kind, for editors and other tools')
    .argument('[kind]', 'MCPServer, VirtualMCPServer, …; all kinds in one schema when left out')
    .addHelpText(
      'after',
      examples(['schema MCPServer', 'one kind'], ['schema > sallyport.schema.json', 'all kinds, for an editor']),
    )
    .action(async (asked?: string) => {
      const { jsonSchemaOf, KINDS } = await import('../../resources/index.ts');
      if (asked === undefined) return shell.out(json(jsonSchemaOf('all')));
      const kind = KINDS.find((name) => name.toLowerCase() === asked.toLowerCase());
      if (kind) return shell.out(json(jsonSchemaOf(kind)));
      const close = suggest(asked, KINDS);
      throw new SallyError('usage.invalid', `there is no kind ${JSON.stringify(asked)}`, {
        hint: close ? `did you mean ${close}?` : `the kinds are ${KINDS.join(', ')}`,
      });
    });
}
