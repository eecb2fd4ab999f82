/** The command line: flags in, words and exit codes out. What a command does is done by `control`. */
export { runCli, type Shell } from './cli.ts';
export { reportError } from './exit.ts';
