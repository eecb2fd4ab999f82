import { open, readFile, realpath, stat } from 'node:fs/promises';
import { basename, dirname, extname, isAbsolute, join, relative, resolve } from 'node:path';
import { codeOf, SallyError } from '../../base/index.ts';

interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly bin: Readonly<Record<string, string>>;
}

export interface InstalledProgram {
  /** Absolute, inside the package's folder. */
  readonly file: string;
  /** It is JavaScript for Node.js, as opposed to a script of another language or a binary. */
  readonly isNode: boolean;
}

/**
 * The program of an npm package that is installed in a `node_modules` of `from` or of a folder above it, or `undefined`.
 * Another version than the asked one is passed over: a pinned reference never runs something else.
 */
export async function findInstalled(
  packageName: string,
  version: string | undefined,
  from: string,
): Promise<InstalledProgram | undefined> {
  for (const folder of ancestors(resolve(from))) {
    const home = join(folder, 'node_modules', packageName);
    const manifest = await readManifest(home);
    if (manifest?.name !== packageName) continue;
    if (version === undefined || manifest.version === version) return programOf(manifest, home);
  }
  return undefined;
}

function* ancestors(folder: string): Generator<string> {
  let current = folder;
  while (true) {
    yield current;
    const above = dirname(current);
    if (above === current) return;
    current = above;
  }
}

async function readManifest(home: string): Promise<Manifest | undefined> {
  try {
    const parsed: unknown = JSON.parse(await readFile(join(home, 'package.json'), 'utf8'));
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const { name, version, bin } = parsed as Record<string, unknown>;
    if (typeof name !== 'string' || typeof version !== 'string') return undefined;
    return { name, version, bin: binMap(name, bin) };
  } catch {
    return undefined; // Not installed here, or not readable: the search goes on, and npx has the last word.
  }
}

/** npm's short form `"bin": "cli.js"` names the program after the package, without its scope. */
function binMap(name: string, bin: unknown): Readonly<Record<string, string>> {
  if (typeof bin === 'string') return { [basename(name)]: bin };
  if (typeof bin !== 'object' || bin === null) return {};
  return Object.fromEntries(Object.entries(bin).filter(([, path]) => typeof path === 'string'));
}

async function programOf(manifest: Manifest, home: string): Promise<InstalledProgram> {
  const file = await insideOf(home, chooseBin(manifest), manifest.name);
  try {
    // Looked at before it is opened: a pipe would keep us waiting for its writer.
    if ((await stat(file)).isFile()) return { file, isNode: await isNodeScript(file) };
  } catch (cause) {
    throw new SallyError(
      'workload.reference_invalid',
      `the program ${file} of the npm package ${manifest.name} cannot be read`,
      { cause, hint: 'check its permissions' },
    );
  }
  throw new SallyError(
    'workload.reference_invalid',
    `the program ${file} of the npm package ${manifest.name} is not a file`,
    { hint: 'install the package again, and report it to its author if that does not help' },
  );
}

function chooseBin({ name, bin }: Manifest): string {
  const programs = Object.keys(bin);
  const paths = new Set(Object.values(bin));
  const path = bin[basename(name)] ?? (paths.size === 1 ? [...paths][0] : undefined);
  if (path !== undefined) return path;
  if (programs.length === 0) {
    throw new SallyError('workload.reference_invalid', `the npm package ${name} has no program to run`, {
      hint: 'check the name of the package: a library is not a server',
    });
  }
  throw new SallyError(
    'workload.reference_invalid',
    `the npm package ${name} has several programs and none is named like the package: ${programs.join(', ')}`,
    { hint: 'start the one you mean as a command of its own' },
  );
}

/** A manifest is the package's own word; what it names must not lead out of its folder, by dots or by links. */
async function insideOf(home: string, path: string, name: string): Promise<string> {
  const [folder, file] = await Promise.all([realpath(home), realpath(resolve(home, path))]).catch((cause: unknown) => {
    throw new SallyError('workload.reference_invalid', `the program ${path} of the npm package ${name} is missing`, {
      cause,
      hint: codeOf(cause) === 'ENOENT' ? 'install the package again' : 'check its permissions',
    });
  });
  const way = relative(folder, file);
  if (!way.startsWith('..') && !isAbsolute(way)) return file;
  throw new SallyError(
    'workload.reference_invalid',
    `the program ${path} of the npm package ${name} lies outside its folder`,
    { hint: 'install the package again, and report it to its author if that does not help' },
  );
}

async function isNodeScript(file: string): Promise<boolean> {
  await using handle = await open(file);
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(128), 0, 128, 0);
  const [firstLine = ''] = buffer.toString('latin1', 0, bytesRead).split('\n');
  // Only the plain form: a line with flags for Node.js is left to the system, which honours them.
  if (firstLine.startsWith('#!')) return /^#!\s*\S*\/(env\s+)?node\s*$/.test(firstLine);
  return ['.js', '.mjs', '.cjs'].includes(extname(file));
}
