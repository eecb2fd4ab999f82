import type { Shell } from './cli.ts';

/** A world in which nothing is said and nothing happens, for whoever wants to know the commands and to run none. */
export function deafShell(): Shell {
  return {
    argv: [],
    env: {},
    version: '0.0.0',
    home: new URL('../../', import.meta.url),
    pid: 0,
    self: ['sally'],
    untilStopped: () => new AbortController().signal,
    isTerminal: false,
    stdin: () => process.stdin,
    out: () => {},
    err: () => {},
  };
}
