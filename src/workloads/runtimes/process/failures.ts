import { statSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { codeOf, SallyError } from '../../../base/index.ts';
import type { ProcessLaunch } from '../../launch.ts';

/** How the first process of a group ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** The system did not start the process. Its one word, ENOENT, means three different things. */
export function notSpawned(
  { name, command, cwd }: Pick<ProcessLaunch, 'name' | 'command'> & { readonly cwd?: string | undefined },
  cause: unknown,
): SallyError {
  if (cwd !== undefined && !isFolder(cwd)) {
    return new SallyError('workload.reference_invalid', `${name} cannot start: its folder ${cwd} does not exist`, {
      cause,
      hint: 'create the folder, or name another one',
    });
  }
  switch (codeOf(cause)) {
    case 'ENOENT': {
      const present = isAbsolute(command) && statSync(command, { throwIfNoEntry: false }) !== undefined;
      return present
        ? new SallyError('workload.program_missing', `${name} cannot start: ${command} needs an interpreter`, {
            cause,
            hint: 'install the program that its first line names',
          })
        : new SallyError('workload.program_missing', `${name} cannot start: there is no program ${command}`, {
            cause,
            hint: 'install it, or correct the name or the PATH',
          });
    }
    case 'EACCES':
      return new SallyError('workload.program_missing', `${name} cannot start: ${command} may not be executed`, {
        cause,
        hint: `check its permissions; chmod +x makes a script executable`,
      });
    case 'E2BIG':
      return new SallyError(
        'workload.reference_invalid',
        `${name} cannot start: arguments and environment are too big`,
        {
          cause,
          hint: 'pass large values in a file',
        },
      );
    default:
      return new SallyError('workload.exited', `${name} cannot start: the system refused another process`, {
        cause,
        hint: 'look for a limit on processes, open files or memory',
      });
  }
}

/** The server ended though nobody asked it to. */
export function exited(name: string, exit: Exit, lastLines: readonly string[]): SallyError {
  const how = exit.signal === null ? `with exit code ${exit.code}` : `by ${exit.signal}`;
  return new SallyError('workload.exited', `${name} ended ${how}${lastWords(lastLines)}`, {
    hint: whatToDo(exit, lastLines),
  });
}

/** The server still runs, but nothing can come from it any more. */
export function stdoutClosed(name: string, lastLines: readonly string[]): SallyError {
  return new SallyError('workload.exited', `${name} was ended: it closed its stdout${lastWords(lastLines)}`, {
    hint: 'a stdio server answers on stdout; look for a wrapper that redirects it or puts the server in the background',
  });
}

function lastWords(lines: readonly string[]): string {
  if (lines.length === 0) return ' and left no word on stderr';
  return `. Its last words:\n${lines.map((line) => `  ${line}`).join('\n')}`;
}

function whatToDo(exit: Exit, lastLines: readonly string[]): string {
  if (exit.signal === 'SIGKILL') return 'somebody killed it; often that is the system, out of memory';
  if (lastLines.length > 0) return 'fix what the server says and start again';
  if (exit.code === 0) return 'a stdio server runs until its input ends; this one may speak another transport';
  return 'run the command by hand to see why';
}

/** We ended the server because nobody needs it any more: no failure, and told apart from one by its code. */
export function closed(name: string): SallyError {
  return new SallyError('listener.draining', `${name} was stopped`, { hint: 'try again in a moment' });
}

export function lineTooLong(name: string, limit: number): SallyError {
  return new SallyError('workload.not_mcp', `${name} printed a line of more than ${mebibytes(limit)} on stdout`, {
    hint: 'only MCP messages belong on stdout, one per line; logs go to stderr',
  });
}

export function notReading(name: string, limit: number): SallyError {
  return new SallyError('workload.exited', `${name} was ended: it left ${mebibytes(limit)} of its input unread`, {
    hint: 'the server hangs; its log may say why',
  });
}

export function unsupportedPlatform(name: string): SallyError {
  return new SallyError('workload.runtime_missing', `${name} cannot run as a local process on Windows`, {
    hint: 'run Sallyport in WSL, or give the http(s) URL of a server that runs elsewhere',
  });
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function mebibytes(bytes: number): string {
  return bytes < 1024 * 1024 ? `${bytes} bytes` : `${Math.round(bytes / 1024 / 1024)} MiB`;
}
