import { type Command, InvalidArgumentError, Option } from 'commander';
import { SallyError } from '../../base/index.ts';
import { announce } from '../announce.ts';
import { logFor, type Shell } from '../cli.ts';
import {
  type AccessFlags,
  accessOf,
  allowedHostOption,
  allowedOriginOption,
  formatOption,
  hostOption,
  insistOption,
  type OutputFormat,
  parsePort,
} from '../options.ts';

interface Options extends AccessFlags {
  readonly name?: string;
  readonly foreground?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  readonly transport: 'stdio' | 'streamable-http' | 'sse';
  readonly sessionMode: 'shared' | 'per-session';
  readonly proxyPort: number;
  readonly targetPort?: number;
  readonly insecureAllowAnonymous: boolean;
  readonly format: OutputFormat;
}

export function addRunCommand(program: Command, shell: Shell): void {
  program
    .command('run')
    .description(
      'run one MCP server behind the gate: npx://PACKAGE, uvx://PACKAGE, go://MODULE, go://./FOLDER or a URL',
    )
    .usage('[options] SERVER [-- ARGS...]')
    .argument('<server>', 'the server to run')
    .argument('[args...]', 'arguments for the server, after --')
    .option('--name <name>', 'name of the workload, made from the server when left out')
    .option('-f, --foreground', 'stay until the server ends or Ctrl-C')
    .option('-e, --env <KEY=VALUE>', 'environment variable for the server, repeatable', addVariable)
    .addOption(
      new Option('--transport <transport>', 'how the server speaks MCP')
        .choices(['stdio', 'streamable-http', 'sse'])
        .default('stdio'),
    )
    .addOption(
      new Option('--session-mode <mode>', 'one process of a stdio server for all clients, or one for each')
        .choices(['shared', 'per-session'])
        .default('shared'),
    )
    .addOption(hostOption())
    .addOption(allowedHostOption())
    .addOption(allowedOriginOption())
    .option('--proxy-port <port>', 'port to listen on, 0 picks a free one', parsePort, 0)
    .option('--target-port <port>', 'port the server listens on, for --transport streamable-http', parsePort)
    .addOption(insistOption())
    .addOption(formatOption())
    .action(async (server: string, args: readonly string[], options: Options, command: Command) => {
      if (args.length > 0 && !shell.argv.includes('--')) {
        throw new SallyError('usage.invalid', `${args[0]} is one word too many`, {
          hint: 'arguments for the server come after --',
        });
      }
      if (!options.foreground) {
        throw new SallyError('usage.invalid', 'running in the background is not available in this version yet', {
          hint: 'add -f to stay in the foreground',
        });
      }
      const { name, env, proxyPort, targetPort, format, transport, sessionMode, insecureAllowAnonymous } = options;
      const { run } = await import('../../control/index.ts');
      await run(
        {
          server,
          args,
          transport,
          sessionMode,
          access: accessOf(options),
          insecureAllowAnonymous,
          port: proxyPort,
          serverEnv: env ?? {},
          from: '.',
          ...(name === undefined ? {} : { name }),
          ...(targetPort === undefined ? {} : { targetPort }),
        },
        {
          env: shell.env,
          version: shell.version,
          log: logFor(command, shell),
          stop: shell.untilStopped(),
          tell: announce(format, shell.out),
        },
      );
    });
}

function addVariable(text: string, earlier: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined) throw new InvalidArgumentError('write it as KEY=VALUE.');
  return { ...earlier, [name]: value };
}
