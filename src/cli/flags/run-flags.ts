import { type Command, InvalidArgumentError, Option } from 'commander';
import type { RunFlags } from '../../control/configuring/index.ts';
import { addIncomingOptions } from '../incoming-options.ts';
import {
  allowedHostOption,
  allowedOriginOption,
  caBundleOption,
  hostOption,
  insistOption,
  parsePort,
  trustProxyOption,
} from '../options.ts';
import { addTokenExchangeOptions } from '../token-exchange-options.ts';
import { addRemoteFlags } from './remote-flags.ts';

/** The flags that describe a workload, for `run` and for `update`. What they mean is decided in `control`. */
export function addRunFlags(command: Command): Command {
  const described = addIncomingOptions(addProxyFlags(addWorkloadFlags(command)));
  return addContainerFlags(addRemoteFlags(addTokenExchangeOptions(described)));
}

/** Only what was said: defaults belong to the configuration, and a change must not bring them back. */
export function saidFlags(command: Command): RunFlags {
  const said = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) !== 'default');
  return Object.fromEntries(said) as RunFlags;
}

function addWorkloadFlags(command: Command): Command {
  return command
    .option('--group <group>', 'group the workload belongs to (default: default)')
    .option('-e, --env <KEY=VALUE>', 'environment variable for the server, repeatable', pair('KEY=VALUE'))
    .option('--env-file <file>', 'file with environment variables, read at each start')
    .option('--env-file-dir <folder>', 'folder of such files')
    .option('--secret <NAME,target=VARIABLE>', 'secret of the store as an environment variable, repeatable', collect)
    .option('-l, --label <key=value>', 'label of the workload, repeatable', pair('key=value'))
    .option('--tools <names>', 'the only tools to offer, with commas, repeatable', toolNames)
    .option('--tools-override <file>', 'JSON file with other names and descriptions of tools');
}

function addProxyFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--transport <transport>', 'how the server speaks MCP; stdio for packages unless said').choices([
        'stdio',
        'streamable-http',
        'sse',
      ]),
    )
    .addOption(
      new Option('--proxy-mode <mode>', 'which address of a stdio server to show; sse is deprecated').choices([
        'streamable-http',
        'sse',
      ]),
    )
    .addOption(
      new Option('--session-mode <mode>', 'one process of a stdio server for all clients, or one for each').choices([
        'shared',
        'per-session',
      ]),
    )
    .option('--proxy-port <port>', 'port to listen on; a free one when left out', parsePort)
    .addOption(hostOption())
    .addOption(allowedHostOption())
    .addOption(allowedOriginOption())
    .addOption(insistOption())
    .addOption(trustProxyOption())
    .addOption(caBundleOption())
    .option('--target-host <host>', 'where a server that speaks HTTP is reached (default: 127.0.0.1)')
    .option(
      '--target-port <port>',
      'port that a server which speaks HTTP listens on; a free one when left out',
      parsePort,
    )
    .option('--endpoint-prefix <path>', 'path in front of the addresses that clients of /sse are told')
    .option('--stateless', 'the server takes POST only, and so does the endpoint');
}

function addContainerFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--runtime <runtime>',
        'what runs the server; a container where an engine answers, a process where none does',
      ).choices(['container', 'docker', 'podman', 'process']),
    )
    .option('--memory <size>', 'most memory of the container, as in 512m (default: 2g)')
    .option('--pids-limit <number>', 'most processes in the container (default: 512)', parseCount)
    .option('--read-only-root <yes>', 'keep the files of the image as they are; tried first when left out', parseYes)
    .option('-v, --volume <host:container[:ro]>', 'folder of this machine that the server sees, repeatable', collect)
    .option('-p, --publish <host:container>', 'further port of the container, repeatable', collect)
    .option('--network <mode>', 'network of the container; none for no network')
    .option('--isolate-network', 'let the server reach only what its permission profile allows')
    .option('--allow-docker-gateway', 'let an isolated server reach this machine')
    .option('--permission-profile <profile>', 'none, network, or a JSON file')
    .addOption(
      new Option('--image-verification <mode>', 'what to do about an image without a good signature').choices([
        'warn',
        'enabled',
        'disabled',
      ]),
    )
    .option('--ca-cert <file>', 'certificate to trust while a container is built')
    .option('--ignore-globally <yes>', 'hide what the global ignore file names (default: true)', parseYes)
    .option('--print-resolved-overlays', 'tell which paths are hidden from the server')
    .option('--runtime-image <image>', 'base image for npx://, uvx:// and go://')
    .option('--runtime-add-package <name>', 'system package for such an image, repeatable', collect);
}

export function collect(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text];
}

function parseCount(text: string): number {
  if (!/^[1-9][0-9]{0,6}$/.test(text)) throw new InvalidArgumentError('write a number above 0.');
  return Number(text);
}

export function parseYes(text: string): boolean {
  if (/^(true|yes|1)$/i.test(text)) return true;
  if (/^(false|no|0)$/i.test(text)) return false;
  throw new InvalidArgumentError('write true or false.');
}

/** Commas separate names, and blanks around them mean nothing. */
function toolNames(text: string, earlier: readonly string[] = []): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  if (names.includes('')) throw new InvalidArgumentError('a name between the commas is missing.');
  return [...new Set([...earlier, ...names])];
}

/** The later value for a key wins. */
export function pair(form: string) {
  return (text: string, earlier: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> => {
    const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (key === undefined || value === undefined) throw new InvalidArgumentError(`write it as ${form}.`);
    return { ...earlier, [key.trim()]: value };
  };
}
