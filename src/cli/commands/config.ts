import { type Command, Option } from 'commander';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json } from '../output.ts';
import { noticeFor, sayProblems } from '../registry-words.ts';

interface Format {
  readonly format: OutputFormat;
}

export function addConfigCommands(program: Command, shell: Shell): void {
  const config = program.command('config').description('what you chose on this machine');

  config
    .command('set-registry')
    .description('choose where `run`, `search` and `registry` find servers; it is read once to see that it works')
    .argument('<where>', 'a file, the URL of a JSON document, or the URL of a registry with the MCP registry API')
    .addOption(
      new Option('-p, --allow-private-ip', 'it may lie in your own network, and be asked without TLS').default(false),
    )
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples(
        ['config set-registry https://registry.example.net', 'a registry with the API of the MCP registry'],
        ['config set-registry ./servers.json', 'a file'],
      ),
    )
    .action(async (where: string, { allowPrivateIp, format }: Format & { readonly allowPrivateIp: boolean }) => {
      const { chooseRegistry } = await import('../../control/chosen/index.ts');
      const { label, settings, reading } = await chooseRegistry(where, allowPrivateIp, {
        env: shell.env,
        notice: noticeFor(shell),
      });
      if (reading) sayProblems(reading.problems, shell);
      if (format === 'json')
        return shell.out(json({ ...settings, ...(reading ? { servers: reading.entries.length } : {}) }));
      shell.out(`Servers are looked up in ${label}${reading ? `, which has ${reading.entries.length}` : ''}.\n`);
    });

  config
    .command('get-registry')
    .description('show where servers are looked up')
    .addOption(formatOption())
    .addHelpText('after', examples(['config get-registry', 'the built-in catalogue unless you chose another']))
    .action(async ({ format }: Format) => {
      const { readSettings } = await import('../../settings/index.ts');
      const { openRegistry } = await import('../../control/chosen/index.ts');
      const { registry = { kind: 'embedded' } } = await readSettings(shell.env);
      if (format === 'json') return shell.out(json(registry));
      shell.out(`${(await openRegistry({ env: shell.env, notice: noticeFor(shell) })).label}\n`);
    });

  config
    .command('unset-registry')
    .description('go back to the built-in catalogue')
    .addHelpText('after', examples(['config unset-registry', 'fetch, github and the others have their names again']))
    .action(async () => {
      const { changeSettings } = await import('../../settings/index.ts');
      await changeSettings(shell.env, { registry: undefined });
    });
}
