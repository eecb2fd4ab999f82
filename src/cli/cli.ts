import { Command, CommanderError } from 'commander';
import { createLog, type Log, SallyError } from '../base/index.ts';
import { addAuthCommands } from './commands/auth.ts';
import { addBuildCommand } from './commands/build.ts';
import { addConfigCommands } from './commands/config.ts';
import { addCrdsCommand } from './commands/crds.ts';
import { addExportCommand } from './commands/export.ts';
import { addGroupCommands } from './commands/group.ts';
import { addListCommand } from './commands/list.ts';
import { addLogsCommand } from './commands/logs.ts';
import { addNetCommands } from './commands/net.ts';
import { addRegistryCommands } from './commands/registry.ts';
import { addRunCommand } from './commands/run.ts';
import { addSchemaCommand } from './commands/schema.ts';
import { addSearchCommand } from './commands/search.ts';
import { addSecretCommands } from './commands/secret.ts';
import { addRestartCommand, addStartCommand } from './commands/start.ts';
import { addRemoveCommand, addStopCommand } from './commands/stop.ts';
import { addUpdateCommand } from './commands/update.ts';
import { addValidateCommand } from './commands/validate.ts';
import { addVmcpCommands } from './commands/vmcp.ts';
import { addWorkloadStatusCommand } from './commands/workload-status.ts';
import { reportError } from './exit.ts';
import type { Input } from './terminal.ts';

/** The world as a command sees it. */
export interface Shell {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  readonly pid: number;
  /** How this program is started, for processes of its own that go on without it. */
  readonly self: readonly [string, ...string[]];
  /** The folder of the package itself, with its schemas and examples. */
  readonly home: URL;
  /** For commands that keep running: a signal that is aborted when somebody asks the program to end. */
  readonly untilStopped: () => AbortSignal;
  readonly isTerminal: boolean;
  /** For commands that ask or are piped into; others never touch it. */
  readonly stdin: () => Input;
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
}

/** By the word that each begins with, in the order of the help. */
const COMMANDS: Readonly<Record<string, (program: Command, shell: Shell) => void>> = {
  vmcp: addVmcpCommands,
  run: addRunCommand,
  list: addListCommand,
  status: addWorkloadStatusCommand,
  logs: addLogsCommand,
  stop: addStopCommand,
  start: addStartCommand,
  restart: addRestartCommand,
  update: addUpdateCommand,
  rm: addRemoveCommand,
  export: addExportCommand,
  group: addGroupCommands,
  build: addBuildCommand,
  net: addNetCommands,
  search: addSearchCommand,
  registry: addRegistryCommands,
  secret: addSecretCommands,
  auth: addAuthCommands,
  config: addConfigCommands,
  validate: addValidateCommand,
  schema: addSchemaCommand,
  crds: addCrdsCommand,
};

/** Runs one command line and gives the exit code. Never throws. */
export async function runCli(shell: Shell): Promise<number> {
  let help = '';
  // Commander's own complaints come back as errors and are told in our words; the help it shows for `sally vmcp` alone is an answer.
  const program = buildProgram(shell, (text) => {
    help = text;
  });
  try {
    await program.parseAsync(shell.argv, { from: 'user' });
    return 0;
  } catch (thrown) {
    if (thrown instanceof CommanderError && thrown.code === 'commander.help') shell.out(help);
    return reportError(fromCommander(thrown), shell, shell.argv.includes('--debug'));
  }
}

export function buildProgram(shell: Shell, complain: (text: string) => void = () => {}): Command {
  const program = new Command('sally')
    .description('One gate with two doors in front of your MCP servers.')
    .version(shell.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .option('--debug', 'log more, and show stack traces')
    .exitOverride()
    .showSuggestionAfterError()
    .configureOutput({
      writeOut: shell.out,
      writeErr: complain,
    });
  // Who names a command has no use for the flags of the others. Words that are none get all of them, and a suggestion.
  const [named = ''] = shell.argv;
  const wanted = Object.hasOwn(COMMANDS, named) ? [COMMANDS[named]] : Object.values(COMMANDS);
  for (const add of wanted) add?.(program, shell);
  return program;
}

/** Logs go to stderr, one line each; answers go to stdout. */
export function logFor(command: Command, shell: Shell): Log {
  const { debug } = command.optsWithGlobals<{ debug?: boolean }>();
  const format = shell.env.SALLYPORT_LOG_FORMAT === 'json' ? 'json' : 'text';
  return createLog({ level: debug ? 'debug' : 'info', format, write: shell.err, now: () => new Date() });
}

function fromCommander(thrown: unknown): unknown {
  if (!(thrown instanceof CommanderError)) return thrown;
  // Help and version end the program well; `sally vmcp` alone shows the help and calls that an error.
  if (thrown.exitCode === 0 || thrown.code === 'commander.help') return undefined;
  const [message = '', suggestion] = thrown.message.replace(/^error: /, '').split('\n');
  const hint =
    suggestion?.replace(/^\(Did you mean (.*)\?\)$/, 'did you mean $1?') ?? 'add --help to see what is allowed';
  return new SallyError('usage.invalid', message, { hint });
}
