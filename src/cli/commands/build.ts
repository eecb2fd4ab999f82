import { resolve } from 'node:path';
import type { Command } from 'commander';
import { SallyError } from '../../base/index.ts';
import { logFor, type Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { collect } from '../flags/run-flags.ts';
import { formatOption, type OutputFormat } from '../options.ts';
import { json } from '../output.ts';

interface Options {
  readonly tag?: string;
  readonly runtime?: 'docker' | 'podman';
  readonly runtimeImage?: string;
  readonly runtimeAddPackage?: readonly string[];
  readonly caCert?: string;
  readonly fresh?: boolean;
  readonly format: OutputFormat;
}

export function addBuildCommand(program: Command, shell: Shell): void {
  program
    .command('build')
    .description('make the container image of a package without running it')
    .argument('<package>', 'npx://PACKAGE, uvx://PACKAGE, go://MODULE or go://./FOLDER')
    .option('-t, --tag <image>', 'another name for the image, beside its own')
    .option('--runtime <engine>', 'docker or podman; whichever answers when left out', engineName)
    .option('--runtime-image <image>', 'base image')
    .option('--runtime-add-package <name>', 'system package for the image, repeatable', collect)
    .option('--ca-cert <file>', 'certificate to trust in the build and in the image')
    .option('--fresh', 'build again though the image is there, for packages without a version')
    .addOption(formatOption())
    .addHelpText(
      'after',
      examples(
        ['build npx://@modelcontextprotocol/server-everything', 'the second time it is there at once'],
        ['build uvx://mcp-server-time@2026.10.19 -t registry.example.com/time:1', 'under a name to push it by'],
      ),
    )
    .action(async (server: string, options: Options, command: Command) => {
      const { buildImage } = await import('../../control/configuring/index.ts');
      const { tag, runtime, runtimeImage, runtimeAddPackage, caCert, fresh } = options;
      const image = await buildImage(
        {
          server,
          tag,
          runtime,
          base: runtimeImage,
          packages: runtimeAddPackage ?? [],
          caCert: caCert === undefined ? undefined : resolve(caCert),
          fresh: fresh === true,
        },
        { env: shell.env, log: logFor(command, shell), progress: (line) => shell.err(`${line}\n`) },
      );
      shell.out(
        options.format === 'json' ? json({ image, ...(tag === undefined ? {} : { tag }) }) : `${tag ?? image}\n`,
      );
    });
}

function engineName(text: string): string {
  if (text === 'docker' || text === 'podman') return text;
  throw new SallyError('usage.invalid', `${text} builds no images`, { hint: 'choose docker or podman' });
}
