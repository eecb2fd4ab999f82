import { printable, toSallyError } from '../base/index.ts';

interface Streams {
  readonly err: (text: string) => void;
}

/** The command line edge: says what went wrong and what to do, and gives the exit code. Stacks are for --debug only. */
export function reportError(thrown: unknown, { err }: Streams, debug: boolean): number {
  if (thrown === undefined) return 0;
  const error = toSallyError(thrown);
  const [first = '', ...rest] = error.message.split('\n');
  err(`error[${error.code}]: ${printable(first)}\n`);
  for (const line of rest) err(`  ${printable(line.trimStart())}\n`);
  for (const line of error.details) err(`  ${printable(line)}\n`);
  for (const cause of causesOf(error)) err(`  because: ${printable(cause)}\n`);
  if (error.hint) err(`  what to do: ${error.hint}\n`);
  if (debug) err(`${stackOf(error)}\n`);
  else if (error.code === 'internal.bug') err('  what to do: run again with --debug and report what it prints\n');
  return error.face.exit;
}

function* causesOf(error: Error): Generator<string> {
  let cause = error.cause;
  for (let depth = 0; cause instanceof Error && depth < 4; depth++) {
    // Node repeats the system call in the message; one line is enough.
    yield cause.message.split('\n', 1)[0] ?? '';
    cause = cause.cause;
  }
}

function stackOf(error: Error): string {
  return error.cause instanceof Error ? `${error.stack}\ncaused by ${error.cause.stack}` : `${error.stack}`;
}
