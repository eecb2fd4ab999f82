import { printable } from '../../base/index.ts';
import type { Declaration, MissingArgument } from './entry.ts';

interface Needs {
  readonly env: readonly Declaration[];
  readonly args: readonly string[];
  readonly missingArgs: readonly MissingArgument[];
}

/**
 * A command line to copy, with what only the user knows in capitals. Words of strangers are quoted or made plain: pasted into
 * a shell, the line starts nothing but what it says.
 */
export function exampleLine(name: string, { env, args, missingArgs }: Needs): string {
  const needed = env.filter(({ required, default: value }) => required && value === undefined);
  const flags = needed.map(({ name: variable, secret }) =>
    secret ? `--secret NAME,target=${variable}` : `-e ${variable}=VALUE`,
  );
  const own = missingArgs.length > 0 ? ['--', ...args.map(quoted), ...missingArgs.map(placeholder)] : [];
  return ['sally run', ...flags, name, ...own].join(' ');
}

function placeholder({ name }: MissingArgument): string {
  return (
    name
      .toUpperCase()
      .replaceAll(/[^A-Z0-9]+/g, '-')
      .replaceAll(/^-|-$/g, '')
      .slice(0, 40) || 'VALUE'
  );
}

function quoted(word: string): string {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(word) ? word : `'${printable(word, 500).replaceAll("'", "'\\''")}'`;
}
