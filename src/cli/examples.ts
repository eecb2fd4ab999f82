/** Command lines to copy, below the help of a command. */
export function examples(...lines: readonly (readonly [string, string])[]): string {
  const width = Math.max(...lines.map(([line]) => line.length));
  return `\nExamples:\n${lines.map(([line, what]) => `  sally ${line.padEnd(width)}  # ${what}`).join('\n')}\n`;
}
