import { printable } from '../base/index.ts';
import type { Endpoint, ServeEvent } from '../control/index.ts';
import { clientLines } from './client-lines.ts';
import { type OutputFormat, table } from './output.ts';

/** Tells what a serving command has to say: for people where to connect and how, for machines one JSON object a line. */
export function announce(format: OutputFormat, out: (text: string) => void): (event: ServeEvent) => void {
  if (format === 'json') return (event) => out(`${JSON.stringify(forMachines(event))}\n`);
  return (event) => {
    switch (event.event) {
      case 'ready':
        out(`${event.endpoints.map(describe).join('\n')}\nCtrl-C stops everything.\n`);
        return;
      case 'reloaded':
        out(`\nThe resources changed, this is served now:\n\n${event.endpoints.map(overview).join('\n')}`);
        return;
      case 'refused':
        out(`\nThe changed resources are refused, what ran before goes on.\n`);
        out([event.error.message, ...event.error.details].map((line) => `  ${printable(line)}\n`).join(''));
        return;
    }
  };
}

function forMachines(event: ServeEvent): object {
  if (event.event !== 'refused') return event;
  const { code, message, hint } = event.error;
  return { event: event.event, code, message, hint, problems: event.problems };
}

function describe(endpoint: Endpoint): string {
  return `${overview(endpoint)}\nConnect a client:\n${clientLines(endpoint.name, endpoint.url)}`;
}

function overview({ name, url, backends }: Endpoint): string {
  const rows = backends.map(({ name: server, state, tools, error }) => [
    server,
    state,
    tools ?? '',
    printable(error ?? '', 200),
  ]);
  const head = `${name} is served at ${url}\n`;
  if (rows.length === 0) return `${head}\n  The group has no servers yet.\n`;
  const lines = table(['SERVER', 'STATE', 'TOOLS', ''], rows)
    .split('\n')
    .map((line) => (line ? `  ${line}` : line));
  return `${head}\n${lines.join('\n')}`;
}
