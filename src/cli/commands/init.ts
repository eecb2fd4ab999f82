import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Command } from 'commander';
import { codeOf, SallyError } from '../../base/index.ts';
import type { Shell } from '../cli.ts';
import { examples } from '../examples.ts';
import { json } from '../output.ts';

/** Lets editors complete and check the files. Its name starts with a dot, so it is no resource itself. */
const SCHEMA = '.sallyport.schema.json';

export function addInitCommand(vmcp: Command, shell: Shell): void {
  vmcp
    .command('init')
    .description('write a commented folder of resources to start from')
    .argument('[folder]', 'where to write it', 'sallyport')
    .addHelpText('after', examples(['vmcp init my-tools', 'then: sally vmcp serve -f my-tools']))
    .action(async (folder: string) => {
      const { jsonSchemaOf } = await import('../../resources/index.ts');
      const template = fileURLToPath(new URL('examples/quickstart-anonymous/', shell.home));
      const files = (await readdir(template)).filter((file) => file.endsWith('.yaml')).sort();
      await refuseExisting(folder, [...files, SCHEMA]);
      const written: string[] = [];
      try {
        await mkdir(folder, { recursive: true });
        await write(folder, SCHEMA, json(jsonSchemaOf('all')));
        written.push(SCHEMA);
        for (const file of files) {
          const text = await readFile(join(template, file), 'utf8');
          await write(folder, file, text.replace(/\$schema=\S+/, `$schema=./${SCHEMA}`));
          written.push(file);
        }
      } catch (cause) {
        for (const file of written) await rm(join(folder, file), { force: true }).catch(() => {});
        throw unwritable(folder, cause);
      }
      shell.out(
        `Wrote ${files.map((file) => join(folder, file)).join(' and ')}.\nNext: sally vmcp serve -f ${folder}\n`,
      );
    });
}

function write(folder: string, file: string, text: string): Promise<void> {
  return writeFile(join(folder, file), text, { flag: 'wx' });
}

function unwritable(folder: string, cause: unknown): SallyError {
  return new SallyError('config.unreadable', `${folder} cannot be written to`, {
    cause,
    hint: 'name a folder that you may write to',
  });
}

/** All or nothing: a folder that already has one of the files is left as it is. */
async function refuseExisting(folder: string, files: readonly string[]): Promise<void> {
  const there = await readdir(folder).catch((cause: unknown): string[] => {
    if (codeOf(cause) === 'ENOENT') return [];
    throw unwritable(folder, cause);
  });
  const taken = files.find((file) => there.includes(file));
  if (taken === undefined) return;
  throw new SallyError('usage.invalid', `${join(folder, taken)} is already there`, {
    hint: 'name a folder that does not exist yet: sally vmcp init FOLDER',
  });
}
