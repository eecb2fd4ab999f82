import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { SallyError } from '../../base/index.ts';
import type { TarEntry } from './tar.ts';

const MOST_BYTES = 256 * 1024 * 1024;
/** Never part of a build: history, and files that hold secrets. */
const LEFT_OUT = /^(\.git|\.hg|\.svn|node_modules|\.env|\.env\..*|\.netrc|\.npmrc)$/;

/** The source of a local Go program: its whole module, and where in it the program lies. */
export interface SourceFolder {
  readonly entries: readonly TarEntry[];
  readonly inside: string;
  readonly digest: string;
}

export async function readGoSource(path: string, from: string): Promise<SourceFolder> {
  const folder = resolve(from, path);
  const root = await moduleRoot(folder);
  const entries: TarEntry[] = [];
  let bytes = 0;

  async function look(below: string): Promise<void> {
    for (const entry of (await readdir(join(root, below), { withFileTypes: true })).sort((a, b) =>
      a.name < b.name ? -1 : 1,
    )) {
      if (LEFT_OUT.test(entry.name)) continue;
      const at = join(below, entry.name);
      if (entry.isDirectory()) {
        entries.push({ path: `src/${at}` });
        await look(at);
      } else if (entry.isFile()) {
        const content = await readFile(join(root, at));
        bytes += content.length;
        if (bytes > MOST_BYTES) throw tooLarge(root);
        entries.push({ path: `src/${at}`, content });
      } // links lead elsewhere, and Go does not follow them either
    }
  }

  entries.push({ path: 'src' });
  await look('');
  const hash = createHash('sha256');
  for (const { path: name, content } of entries)
    hash.update(`${name}\0${content?.length ?? -1}\0`).update(content ?? '');
  return { entries, inside: relative(root, folder), digest: hash.digest('hex') };
}

/** The nearest folder upwards with a `go.mod`. */
async function moduleRoot(folder: string): Promise<string> {
  for (let at = folder; ; at = dirname(at)) {
    const found = await stat(join(at, 'go.mod')).catch(() => undefined);
    if (found?.isFile()) return at;
    if (dirname(at) === at) {
      throw new SallyError('workload.reference_invalid', `${folder} is not part of a Go module`, {
        hint: 'name a folder with a go.mod in it or above it',
      });
    }
  }
}

function tooLarge(root: string): SallyError {
  return new SallyError('workload.reference_invalid', `the module in ${root} is too large to build in a container`, {
    hint: 'move what is not source out of it, or use --runtime process',
  });
}
