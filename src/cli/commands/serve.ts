import type { Command } from 'commander';
import { createSecretSource } from '../../secrets/index.ts';
import { announce } from '../announce.ts';
import { logFor, type Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import {
  type AccessFlags,
  accessOf,
  allowedHostOption,
  allowedOriginOption,
  caBundleOption,
  formatOption,
  hostOption,
  insistOption,
  type OutputFormat,
  parsePort,
  secretsOption,
  trustProxyOption,
} from '../options.ts';

interface Options extends AccessFlags {
  readonly file: string;
  readonly port: number;
  readonly format: OutputFormat;
  readonly secretsDir?: string;
  readonly caBundle?: string;
  readonly insecureAllowAnonymous: boolean;
}

const DEFAULT_PORT = 4483;

export function addServeCommand(vmcp: Command, shell: Shell): void {
  vmcp
    .command('serve')
    .description('serve every VirtualMCPServer of a folder, and follow the files as they change')
    .requiredOption('-f, --file <path>', 'file or folder with resources in YAML')
    .addOption(hostOption())
    .addOption(allowedHostOption())
    .addOption(allowedOriginOption())
    .addOption(trustProxyOption())
    .addOption(caBundleOption())
    .option('--port <port>', 'port to listen on, 0 picks a free one', parsePort, DEFAULT_PORT)
    .addOption(insistOption())
    .addOption(secretsOption())
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples(
        ['vmcp serve -f my-tools --port 8080', 'at http://127.0.0.1:8080/mcp, until Ctrl-C'],
        ['vmcp serve -f my-tools --port 0 --format json', 'on a free port, with events for scripts'],
      ),
    )
    .action(async (options: Options, command: Command) => {
      const { file, port, format, secretsDir, insecureAllowAnonymous, caBundle } = options;
      const trusted = caBundle === undefined ? {} : { caBundle };
      const { serve } = await import('../../control/index.ts');
      await serve(
        { path: file, access: accessOf(options), port, insecureAllowAnonymous, ...trusted },
        {
          secrets: createSecretSource({ env: shell.env, ...(secretsDir === undefined ? {} : { folder: secretsDir }) }),
          env: shell.env,
          pid: shell.pid,
          version: shell.version,
          log: logFor(command, shell),
          stop: shell.untilStopped(),
          tell: announce(format, shell.out),
        },
      );
    });
}
