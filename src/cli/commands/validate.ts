import type { Command } from 'commander';
import { createSecretSource } from '../../secrets/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { formatOption, type OutputFormat, secretsOption } from '../options.ts';
import { json } from '../output.ts';

interface Options {
  readonly file: string;
  readonly format: OutputFormat;
  readonly secretsDir?: string;
}

export function addValidateCommand(parent: Command, shell: Shell): void {
  const under = parent.parent ? `${parent.name()} ` : '';
  parent
    .command('validate')
    .description('check a folder of resources without starting anything')
    .requiredOption('-f, --file <path>', 'file or folder with resources in YAML')
    .addOption(formatOption())
    .addOption(secretsOption())
    .addHelpText(
      'after',
      examples(
        [`${under}validate -f my-tools`, 'every problem with its file and line'],
        [`${under}validate -f my-tools --format json`, 'for scripts'],
      ),
    )
    .action(async ({ file, format, secretsDir }: Options) => {
      const { inspectFolder } = await import('../../control/index.ts');
      const { ConfigError } = await import('../../resources/index.ts');
      const secrets = createSecretSource({
        env: shell.env,
        ...(secretsDir === undefined ? {} : { folder: secretsDir }),
      });
      const { resources, problems } = await inspectFolder(file, secrets);
      if (format === 'json')
        shell.out(json({ valid: problems.length === 0, resources: resources.all.length, problems }));
      if (problems.length > 0) throw new ConfigError(problems);
      if (format === 'text') shell.out(`${file}: ${resources.all.length} resources, no problems\n`);
    });
}
