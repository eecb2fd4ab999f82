import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';

/**
 * The absolute path of a program, searched as a shell would, in `first` and then on the PATH.
 * Relative and empty PATH entries are left out: they would make the working folder part of the search.
 */
export async function findProgram(name: string, path: string | undefined, first?: string): Promise<string | undefined> {
  const folders = [...(first === undefined ? [] : [first]), ...(path ?? '').split(delimiter)];
  for (const folder of folders) {
    const file = join(folder, name);
    if (isAbsolute(folder) && (await isExecutable(file))) return file;
  }
  return undefined;
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    // A folder may be "executable" as well.
    return (await stat(file)).isFile();
  } catch {
    return false; // Missing or forbidden are the same to someone who looks for a program.
  }
}
