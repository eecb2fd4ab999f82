import { lstat, readdir, readFile, stat } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { codeOf, configFolder, SallyError } from '../../base/index.ts';
import type { Environment } from '../launch.ts';
import type { Mount } from './mounts.ts';
import type { Volume } from './volumes.ts';

const LOCAL_NAMES = ['.sallyignore', '.thvignore'];
/** An engine takes a while for each mount, and a folder with more hidden paths needs a better pattern. */
const MOST_HIDDEN = 1_000;
const MOST_SEEN = 200_000;

export interface HidingOptions {
  /** Whether the ignore file of this user counts too. */
  readonly global: boolean;
  readonly env: Environment;
}

/**
 * The mounts of a volume: the volume itself, then something empty over every path that an ignore file names (with the rules of
 * gitignore). Whatever cannot be read or is too much is an error: nobody runs with files in sight that he wanted hidden.
 */
export async function mountsOf(volume: Volume, options: HidingOptions): Promise<readonly Mount[]> {
  const bind: Mount = { kind: 'bind', ...volume };
  const patterns = await patternsFor(volume.source, options);
  if (patterns.trim() === '' || !(await stat(volume.source)).isDirectory()) return [bind];
  const fixed = volume.readOnly ? [] : await keptAsTheyAre(volume);
  const { default: ignore } = await import('ignore');
  const rules = ignore({ ignorecase: false }).add(patterns);
  const hidden: Mount[] = [];
  let seen = 0;

  async function look(folder: string): Promise<void> {
    const entries = await readdir(join(volume.source, folder), { withFileTypes: true }).catch((cause: unknown) => {
      throw new SallyError(
        'config.unreadable',
        `${join(volume.source, folder)} cannot be read, so nothing in it can be hidden`,
        {
          cause,
          hint: 'mount a folder that you can read',
        },
      );
    });
    for (const entry of entries.sort((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = posix.join(folder, entry.name);
      seen += 1;
      if (seen > MOST_SEEN) throw tooMuch(volume, `has more than ${MOST_SEEN} entries to look through`);
      // gitignore tells folders by a slash at their end.
      if (rules.ignores(entry.isDirectory() ? `${path}/` : path)) {
        const target = posix.join(volume.target, path);
        if (entry.isSymbolicLink()) throw linkInTheWay(volume, path);
        hidden.push({ kind: 'hidden', target, what: entry.isDirectory() ? 'folder' : 'file' });
        if (hidden.length > MOST_HIDDEN) throw tooMuch(volume, `has more than ${MOST_HIDDEN} paths to hide`);
      } else if (entry.isDirectory()) {
        await look(path);
      }
    }
  }

  await look('');
  return [bind, ...fixed, ...hidden];
}

/** A server that may write to a folder must not decide what it sees there after its next start. */
async function keptAsTheyAre(volume: Volume): Promise<readonly Mount[]> {
  const mounts: Mount[] = [];
  for (const name of LOCAL_NAMES) {
    const source = join(volume.source, name);
    const there = await lstat(source).catch(() => undefined);
    if (there?.isSymbolicLink()) throw linkInTheWay(volume, name);
    if (there) mounts.push({ kind: 'bind', source, target: posix.join(volume.target, name), readOnly: true });
  }
  return mounts;
}

async function patternsFor(source: string, { global, env }: HidingOptions): Promise<string> {
  const files = [
    ...(global ? [join(configFolder(env), 'sallyignore')] : []),
    ...LOCAL_NAMES.map((name) => join(source, name)),
  ];
  const texts = await Promise.all(files.map(readPatterns));
  return texts.join('\n');
}

async function readPatterns(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(cause) ?? '')) return '';
    throw new SallyError('config.unreadable', `${file} cannot be read, so it is not known what to hide`, {
      cause,
      hint: 'correct its permissions, or remove it',
    });
  }
}

/** A mount goes to where a link points, which may be outside of the volume, and leaves the link itself in sight. */
function linkInTheWay(volume: Volume, path: string): SallyError {
  return new SallyError(
    'config.unsupported',
    `${join(volume.source, path)} is a link and cannot be hidden or kept as it is`,
    {
      hint: 'hide what it points to, and take the link out of the ignore file or out of the folder',
    },
  );
}

function tooMuch({ source }: Volume, why: string): SallyError {
  return new SallyError('config.unsupported', `${source} ${why}`, {
    hint: 'name whole folders in the ignore file, or mount a smaller folder',
  });
}
