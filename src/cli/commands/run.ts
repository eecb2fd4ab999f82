import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { SallyError } from '../../base/index.ts';
import type { LookUp, RegistryPermissions, RunFlags, SaidConfig } from '../../control/configuring/index.ts';
import type { LifecycleParts } from '../../control/lifecycle/index.ts';
import type { RunConfig } from '../../resources/index.ts';
import { announce } from '../announce.ts';
import { logFor, type Shell } from '../cli.ts';
import { clientLines } from '../client-lines.ts';
import { examples } from '../examples.ts';
import { addRunFlags, parseYes, saidFlags } from '../flags/run-flags.ts';
import { refuseUnkeepable } from '../flags/unkeepable.ts';
import { isDebug, lifecycleFor } from '../lifecycle.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json } from '../output.ts';
import { createTerminal, type Terminal } from '../terminal.ts';

interface Options {
  readonly foreground?: boolean;
  readonly fromConfig?: string;
  readonly wait: boolean;
  readonly format: OutputFormat;
}

/** Flags that go with a configuration file: they say how to run it, not what. */
const WITH_FILE = new Set(['fromConfig', 'foreground', 'wait', 'format']);

export function addRunCommand(program: Command, shell: Shell): void {
  const command = program
    .command('run')
    .description(
      'run one MCP server behind the gate: npx://PACKAGE, uvx://PACKAGE, go://MODULE, go://./FOLDER, a URL, a name of the registry, or an image',
    )
    .usage('[options] SERVER [-- ARGS...]')
    .argument('[server]', 'the server to run')
    .argument('[args...]', 'arguments for the server, after --')
    .option('--name <name>', 'name of the workload, made from the server when left out')
    .option('-f, --foreground', 'stay until the server ends or Ctrl-C')
    .option('--from-config <file>', 'run what a file says that sally export or ToolHive wrote')
    .option('--wait <yes>', 'come back when the server answers, or failed', parseYes, true)
    .addOption(formatOption());
  addRunFlags(command)
    .addHelpText(
      'after',
      examples(
        ['run npx://@modelcontextprotocol/server-everything', 'a package of npm, in the background'],
        ['run uvx://mcp-server-time --name time -- --local-timezone UTC', 'a package of PyPI with arguments'],
        ['run https://mcp.example.com/mcp --tools search,fetch', 'two tools of a server elsewhere'],
        [
          'run https://mcp.example.com/mcp --remote-forward-headers-secret X-Key=notes-key',
          'with a key from the store',
        ],
        ['run ghcr.io/acme/notes:1.4 --name notes --permission-profile none', 'a container image, without a network'],
        ['run -f go://./server -e LEVEL=debug', 'a folder of Go, until Ctrl-C'],
      ),
    )
    .action(async (server: string | undefined, args: readonly string[], options: Options, command: Command) => {
      const flags = saidFlags(command);
      const { prepareRuntime } = await import('../../control/configuring/index.ts');
      const { runDetached, chooseFreePort, withSaid } = await import('../../control/lifecycle/index.ts');
      const parts = await lifecycleFor(command, shell, { patient: true });
      const { config: wanted, said, permissions } = await configOf(server, args, options, flags, parts, shell);
      sayWhatIsSeen(wanted, shell);
      const progress = (line: string): void => shell.err(`${line}\n`);
      const config = await prepareRuntime(wanted, { env: shell.env, log: parts.log, progress, permissions });
      if (options.foreground) {
        const { runForeground } = await import('../../control/supervisor/index.ts');
        return await runForeground(config, parts, {
          version: shell.version,
          log: logFor(command, shell),
          debug: isDebug(command),
          tell: announce(options.format, shell.out),
          resolveSecrets: withSaid(
            async (references) => (await parts.secrets()).resolverFor(config.name)(references),
            said,
          ),
          oidcClientSecret: flags.oidcClientSecret,
          tokenExchangeClientSecret: flags.tokenExchangeClientSecret,
        });
      }
      refuseUnkeepable(flags);
      sayWhatIsKept(config, shell);
      const kept = config.port === 0 ? { ...config, port: await chooseFreePort(config.host) } : config;
      const started = await runDetached(kept, parts, { wait: options.wait, debug: isDebug(command), said });
      shell.out(options.format === 'json' ? json(started) : describe(started.name, started.url, config));
    });
}

async function configOf(
  server: string | undefined,
  args: readonly string[],
  { fromConfig }: Options,
  flags: RunFlags,
  parts: LifecycleParts,
  shell: Shell,
): Promise<SaidConfig & { readonly permissions?: RegistryPermissions }> {
  const { configure, hasEngine, resolveSource, withDeclared, withRemoteFlags } = await import(
    '../../control/configuring/index.ts'
  );
  if (fromConfig !== undefined) {
    const other =
      Object.keys(flags).find((flag) => !WITH_FILE.has(flag)) ?? (server === undefined ? undefined : 'server');
    if (other !== undefined) {
      throw new SallyError(
        'usage.invalid',
        `--from-config takes everything from the file, ${flagOf(other)} is too much`,
        {
          hint: 'change the file, or change the workload afterwards with: sally update NAME',
        },
      );
    }
    return await readConfig(fromConfig, parts, shell);
  }
  if (server === undefined) {
    throw new SallyError('usage.invalid', 'the server is missing', {
      hint: 'name it, as in: sally run npx://@modelcontextprotocol/server-everything',
    });
  }
  if (args.length > 0 && !shell.argv.includes('--')) {
    throw new SallyError('usage.invalid', `${args[0]} is one word too many`, {
      hint: 'arguments for the server come after --',
    });
  }
  const { transport } = flags;
  const lookUp: LookUp = async (name) => {
    const { lookUpIn, openRegistry } = await import('../../control/chosen/index.ts');
    const registry = await openRegistry({ env: shell.env, notice: (text) => shell.err(`${text}\n`) });
    const containers = await hasEngine(flags, shell.env);
    return await lookUpIn(registry, { containers, ...(transport === undefined ? {} : { transport }) })(name);
  };
  const { fields, found } = await resolveSource(server, lookUp);
  if (!found) return withRemoteFlags(await configure(fields, flags, args, shell.env), flags);
  for (const notice of found.notices) shell.err(`note: ${notice}\n`);
  const { argumentsFor } = await import('../../workloads/registry/index.ts');
  const configured = await configure(fields, flags, argumentsFor(found, args), shell.env);
  const { config, said } = withRemoteFlags(configured, flags);
  const declared = await withDeclared(config, found, { secrets: await parts.secrets(), ...whoCanBeAsked(shell) });
  return { config: declared, said, permissions: found };
}

function whoCanBeAsked(shell: Shell): { readonly ask?: Terminal } {
  const terminal = createTerminal(shell.stdin(), shell.err);
  return terminal.canAsk ? { ask: terminal } : {};
}

async function readConfig(file: string, { secrets }: LifecycleParts, shell: Shell): Promise<SaidConfig> {
  const { parseRunConfig } = await import('../../resources/run-config/index.ts');
  const text = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new SallyError('config.unreadable', `${file} cannot be read`, { cause, hint: 'correct the path' });
  });
  const { adopt, askAgain } = await import('../../control/configuring/index.ts');
  const { config, ignored } = parseRunConfig(text, file);
  if (ignored.length > 0)
    shell.err(`${file}: these fields mean nothing here and were left out: ${ignored.join(', ')}\n`);
  const adopted = await adopt(config);
  return { config: adopted, said: await askAgain(adopted, { secrets, ...whoCanBeAsked(shell) }) };
}

/** Headers for a server at a URL are secrets, and on the way to another machine http hides nothing. */
function sayWhatIsSeen({ remote_url, header_forward, remote_auth_config }: RunConfig, shell: Shell): void {
  if (!header_forward && !remote_auth_config) return;
  if (!/^http:/i.test(remote_url ?? '') || /^http:\/\/(localhost|127\.[0-9.]+|\[::1\])[:/]/i.test(`${remote_url}/`))
    return;
  shell.err('note: the server is asked over http, so others on the way can read its headers. Better: https\n');
}

/** Whoever writes a secret as a plain variable should know that it is kept as one. */
function sayWhatIsKept({ env_vars, name }: RunConfig, shell: Shell): void {
  const suspicious = Object.keys(env_vars).filter((variable) =>
    /token|secret|password|passwd|api[-_]?key|credential/i.test(variable),
  );
  if (suspicious.length === 0) return;
  shell.err(
    `note: the state of ${name} keeps ${suspicious.join(', ')} in plain text, readable by you only. Better: sally secret set NAME, then --secret NAME,target=${suspicious[0]}\n`,
  );
}

function describe(name: string, url: string | undefined, { proxy_mode }: RunConfig): string {
  if (url === undefined) return `${name} is being started. sally status ${name} shows how it is.\n`;
  const lines = clientLines(name, url, proxy_mode === 'sse' ? 'sse' : 'http');
  return `${name} runs at ${url}\n\nConnect a client:\n${lines}\nsally logs ${name} shows what it says, sally stop ${name} ends it.\n`;
}

function flagOf(name: string): string {
  return name === 'server' ? 'a server' : `--${name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
}
