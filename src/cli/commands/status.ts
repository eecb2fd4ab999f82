import type { Command } from 'commander';
import { printable } from '../../base/index.ts';
import type { BackendSummary, Status } from '../../control/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json, table } from '../output.ts';

export function addStatusCommand(vmcp: Command, shell: Shell): void {
  vmcp
    .command('status')
    .description('show the gateways of this user that run, their servers, and what to do where one is down')
    .addOption(formatOption())
    .addHelpText('after', examples(['vmcp status', 'which servers answer, and what to do where one does not']))
    .action(async ({ format }: { readonly format: OutputFormat }) => {
      const { readStatus } = await import('../../control/index.ts');
      const running = await readStatus(shell.env);
      if (format === 'json') return shell.out(json(running));
      if (running.length === 0) return shell.out('Nothing runs. Start with: sally vmcp serve -f FOLDER\n');
      for (const status of running) shell.out(describe(status));
    });
}

function describe({ pid, endpoints }: Status): string {
  const rows = endpoints.flatMap(({ name, url, backends }) =>
    backends.map((backend) => [
      name,
      url,
      backend.name,
      backend.state,
      backend.revision ?? '',
      backend.tools ?? '',
      repair(backend),
    ]),
  );
  return `pid ${pid}\n${table(['ENDPOINT', 'URL', 'SERVER', 'STATE', 'REVISION', 'TOOLS', 'WHAT TO DO'], rows)}\n`;
}

/** The next step for a server that is not there. */
function repair({ state, error, hint }: BackendSummary): string {
  if (state === 'ready') return '';
  if (state === 'connecting') return 'wait: it is being started';
  return printable([error, hint].filter((text) => text).join('; '), 160);
}
