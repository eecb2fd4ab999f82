import type { Command } from 'commander';

/** A command line without `sally` in front, and what it does. */
export type Example = readonly [line: string, what: string];

/** Command lines to copy, below the help of a command. */
export function examples(...lines: readonly Example[]): string {
  const width = Math.max(...lines.map(([line]) => line.length));
  return `\nExamples:\n${lines.map(([line, what]) => `  sally ${line.padEnd(width)}  # ${what}`).join('\n')}\n`;
}

/** The same lines, read back from what the help of a command shows. */
export function examplesOf(command: Command): readonly Example[] {
  let help = '';
  command.configureOutput({
    writeOut: (text) => {
      help += text;
    },
  });
  command.outputHelp();
  return [...help.matchAll(/^ {2}sally (.+?) {2,}# (.+)$/gm)].map(([, line = '', what = '']) => [line, what]);
}
