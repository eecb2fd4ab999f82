import type { Command } from 'commander';
import { SallyError } from '../../base/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { addRunFlags, saidFlags } from '../flags/run-flags.ts';
import { refuseUnkeepable } from '../flags/unkeepable.ts';
import { isDebug, lifecycleFor } from '../lifecycle.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json } from '../output.ts';

export function addUpdateCommand(program: Command, shell: Shell): void {
  const command = program
    .command('update')
    .description('change a workload; when it does not come up in its new form, the old one runs again')
    .usage('[options] NAME [-- ARGS...]')
    .argument('<name>', 'name of the workload')
    .argument('[args...]', 'other arguments for the server, after --')
    .addOption(formatOption());
  addRunFlags(command)
    .addHelpText(
      'after',
      examples(
        ['update notes -e LEVEL=debug', 'one more variable'],
        ['update notes --proxy-port 9000', 'another port'],
        ['update notes -- --read-only', 'other arguments'],
      ),
    )
    .action(async (name: string, args: readonly string[], options: { format: OutputFormat }, command: Command) => {
      const said = shell.argv.includes('--');
      if (args.length > 0 && !said) {
        throw new SallyError('usage.invalid', `${args[0]} is one word too many`, {
          hint: 'arguments for the server come after --',
        });
      }
      const { format: _, ...flags } = saidFlags(command) as ReturnType<typeof saidFlags> & { readonly format?: string };
      refuseUnkeepable(flags);
      const { prepareRuntime, reconfigure, withRemoteFlags } = await import('../../control/configuring/index.ts');
      const { chooseFreePort, update } = await import('../../control/lifecycle/index.ts');
      const parts = await lifecycleFor(command, shell, { patient: true });
      const updated = await update(
        name,
        async (config) => {
          const changed = withRemoteFlags(await reconfigure(config, flags, said ? args : undefined, shell.env), flags);
          const progress = (line: string): void => shell.err(`${line}\n`);
          const next = await prepareRuntime(changed.config, { env: shell.env, log: parts.log, progress });
          const port = next.port === 0 ? await chooseFreePort(next.host) : next.port;
          return { ...changed, config: { ...next, port } };
        },
        parts,
        isDebug(command),
      );
      if (options.format === 'json') return shell.out(json(updated));
      if (updated.unchanged) return shell.out(`${name} is like that already\n`);
      shell.out(
        updated.url === undefined ? `${name} is changed; it does not run\n` : `${name} runs at ${updated.url}\n`,
      );
    });
}
