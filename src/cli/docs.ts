import type { Command } from 'commander';
import { examplesOf } from './examples.ts';

/** The pages about the commands, written from their definitions: one for each command that does something, and an index. */
export function commandPages(program: Command): ReadonlyMap<string, string> {
  const commands = leavesOf(program);
  const pages = commands.map((command) => [`${slugOf(command)}.md`, pageOf(command)] as const);
  return new Map([...pages, ['README.md', indexOf(program, commands)]]);
}

/** Every command that can be run, in the order in which the help lists them; hidden ones are ours alone. */
export function leavesOf(command: Command): readonly Command[] {
  const inner = command
    .createHelp()
    .visibleCommands(command)
    .filter((one) => one.name() !== 'help');
  return inner.length === 0 ? [command] : inner.flatMap(leavesOf);
}

/** `vmcp serve`, without the name of the program. */
export function wordsOf(command: Command): string {
  return command.parent ? `${wordsOf(command.parent)} ${command.name()}`.trim() : '';
}

function slugOf(command: Command): string {
  return wordsOf(command).replaceAll(' ', '-');
}

function indexOf(program: Command, commands: readonly Command[]): string {
  return [
    '# Commands',
    'Every command has `--help`, which shows what stands here. Exit codes are explained with the [errors](../errors.md).',
    tableOf(
      ['Command', 'What it does'],
      commands.map((command) => [
        `[\`sally ${wordsOf(command)}\`](${slugOf(command)}.md)`,
        sentence(command.description()),
      ]),
    ),
    '## Options of all commands',
    optionsOf(program),
  ].join('\n\n');
}

function pageOf(command: Command): string {
  const help = command.createHelp();
  const args = help.visibleArguments(command);
  const [alias] = command.aliases();
  return [
    `# sally ${wordsOf(command)}`,
    sentence(command.description()),
    `\`\`\`text\n${help.commandUsage(command)}\n\`\`\``,
    ...(alias === undefined ? [] : [`\`${alias}\` is short for \`${command.name()}\`.`]),
    ...(args.length === 0
      ? []
      : [
          '## Arguments',
          tableOf(
            ['Argument', ''],
            args.map((argument) => [
              `\`${help.argumentTerm(argument)}\``,
              sentence(help.argumentDescription(argument)),
            ]),
          ),
        ]),
    '## Options',
    optionsOf(command),
    '## Examples',
    `\`\`\`sh\n${examplesOf(command)
      .map(([line, what]) => `# ${what}\nsally ${line}\n`)
      .join('')}\`\`\``,
    '[All commands](README.md)',
  ].join('\n\n');
}

function optionsOf(command: Command): string {
  const help = command.createHelp();
  const rows = help
    .visibleOptions(command)
    .map((option) => [`\`${help.optionTerm(option)}\``, sentence(help.optionDescription(option))]);
  return tableOf(['Option', ''], rows);
}

function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const escaped = rows.map((cells) => line(cells.map((cell) => cell.replaceAll('|', '\\|'))));
  return [line(head), `|${head.map(() => '---|').join('')}`, ...escaped].join('\n');
}

/** Help begins in lower case, a page does not; and angle brackets would be read as HTML. */
function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`.replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
