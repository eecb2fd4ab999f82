import { Option } from 'commander';
import { printable } from '../base/index.ts';
import type { Declaration, EntryProblem, Registry, RegistryEntry, Way } from '../workloads/registry/index.ts';
import type { Shell } from './cli.ts';
import { table } from './output.ts';

/** How entries of a registry are shown. Their words come from strangers, so each is made safe for a terminal. */

const DESCRIPTION = 70;
const SHOWN_PROBLEMS = 5;

export function refreshOption(): Option {
  return new Option('--refresh', 'ask the registry again, even when a fresh copy is at hand').default(false);
}

export function noticeFor(shell: Shell): (text: string) => void {
  return (text) => shell.err(`note: ${printable(text)}\n`);
}

export async function openShown(shell: Shell): Promise<Registry> {
  const { openRegistry } = await import('../control/chosen/index.ts');
  return openRegistry({ env: shell.env, notice: noticeFor(shell) });
}

/** What was left out is said, on stderr, so that the answer stays one. */
export function sayProblems(problems: readonly EntryProblem[], shell: Shell): void {
  if (problems.length === 0) return;
  shell.err(`note: ${problems.length === 1 ? '1 entry is' : `${problems.length} entries are`} wrong and left out\n`);
  for (const { name, says } of problems.slice(0, SHOWN_PROBLEMS)) {
    shell.err(`  ${printable(name ? `${name}: ${says}` : says, 300)}\n`);
  }
  if (problems.length > SHOWN_PROBLEMS) shell.err(`  and ${problems.length - SHOWN_PROBLEMS} more\n`);
}

export function entryTable(entries: readonly RegistryEntry[]): string {
  const rows = entries.map((entry) => [
    printable(entry.name, 200),
    [...new Set(entry.ways.map(({ kind }) => kind))].join(', ') || 'cannot run here',
    [...new Set(entry.ways.map(({ transport }) => transport))].join(', '),
    `${entry.status === 'deprecated' ? '(deprecated) ' : ''}${printable(entry.description, DESCRIPTION)}`,
  ]);
  return table(['NAME', 'RUNS AS', 'TRANSPORT', 'DESCRIPTION'], rows);
}

export async function describeEntry(entry: RegistryEntry): Promise<string> {
  const { exampleLine } = await import('../workloads/registry/index.ts');
  const { name, title, description, version, repository, tier, stars, tags, tools, ways, refused } = entry;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Title', title],
    ['Version', version],
    ['Status', entry.status === 'deprecated' ? 'deprecated' : undefined],
    ['Tier', tier],
    ['Stars', stars === undefined ? undefined : String(stars)],
    ['Repository', repository],
    ['Tags', tags.join(', ') || undefined],
    ['Tools', tools.join(', ') || undefined],
  ];
  const lines = facts.flatMap(([label, value]) =>
    value === undefined ? [] : [`  ${`${label}:`.padEnd(12)} ${printable(value, 1_000)}`],
  );
  return [
    printable(name, 200),
    `  ${printable(description, 2_000)}`,
    ...lines,
    ...ways.flatMap(describeWay),
    ...refused.map((why) => `\nNot here: ${printable(why, 500)}`),
    ...ways
      .slice(0, 1)
      .flatMap((way) => ['', `Run it with: ${exampleLine(name, { args: [], missingArgs: [], ...way })}`]),
    '',
  ].join('\n');
}

const KINDS = { package: 'As a program', image: 'As a container', remote: 'Elsewhere' } as const;

function describeWay(way: Way): readonly string[] {
  const { kind, server, transport } = way;
  const local = way.kind === 'remote' ? undefined : way;
  return [
    '',
    `${KINDS[kind]}: ${printable(server, 500)} (${transport})`,
    ...(local && local.args.length > 0 ? [`  Arguments: ${printable(local.args.join(' '), 500)}`] : []),
    ...(local?.missingArgs ?? []).map(
      ({ name, description }) => `  Needs argument ${printable(`${name}${about(description)}`, 300)}`,
    ),
    ...way.env.map((declaration) => `  Variable ${describeDeclaration(declaration)}`),
    ...(way.kind === 'remote' ? way.headers.map((header) => `  Header ${describeDeclaration(header)}`) : []),
    ...(local?.permissions ? [`  Permissions: ${printable(JSON.stringify(local.permissions), 1_000)}`] : []),
  ];
}

function describeDeclaration({ name, description, required, secret, default: value }: Declaration): string {
  const marks = [
    required ? 'required' : 'optional',
    ...(secret ? ['secret'] : []),
    ...(value && !secret ? [`default ${value}`] : []),
  ];
  return printable(`${name} (${marks.join(', ')})${about(description)}`, 500);
}

function about(description: string | undefined): string {
  return description ? `: ${description}` : '';
}
