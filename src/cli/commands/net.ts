import type { Command } from 'commander';
import { SallyError } from '../../base/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { lifecycleFor } from '../lifecycle.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json } from '../output.ts';

export function addNetCommands(program: Command, shell: Shell): void {
  const net = program.command('net').description('what confined servers can reach');
  net
    .command('test')
    .description('say whether a workload may reach a host, and by which rule; nothing is contacted')
    .argument('<name>', 'name of the workload')
    .argument('<host:port>', 'as in api.example.com:443')
    .addOption(formatOption())
    .addHelpText('after', examples(['net test notes api.example.com:443', 'allowed, or refused and why']))
    .action(async (name: string, place: string, options: { format: OutputFormat }, command: Command) => {
      const [, host, port] = /^(.+):([0-9]{1,5})$/.exec(place) ?? [];
      if (host === undefined || port === undefined) {
        throw new SallyError('usage.invalid', `${place} is not HOST:PORT`, { hint: 'as in api.example.com:443' });
      }
      const { known } = await import('../../control/lifecycle/index.ts');
      const { explainEgress } = await import('../../control/configuring/index.ts');
      const parts = await lifecycleFor(command, shell);
      const { config } = await known(name, parts.store);
      const answer = await explainEgress(config, host, Number(port));
      if (options.format === 'json') return shell.out(json({ name, host, port: Number(port), ...answer }));
      const address = answer.address === undefined ? '' : ` (${answer.address})`;
      shell.out(`${answer.allowed ? 'allowed' : 'refused'}: ${place}${address}\n  ${answer.why}\n`);
    });
}
