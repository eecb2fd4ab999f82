import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { build, type OutputFile, type Plugin } from 'esbuild';
import { throughDoors } from './doors.ts';

const FOLDER = 'dist';
/** Each is built by itself. What they have in common is in both, so that neither is cut into pieces for the sake of the other. */
const PROGRAMS = ['main', 'supervisor'];
/** Files that no build has made for this long belong to nobody, in milliseconds. What is published or installed is this build alone. */
const FORGOTTEN = process.env.npm_lifecycle_event === 'prepare' ? 0 : 60 * 60_000;

/** Libraries that come along instead of being left to npm (docs/decisions/0031-libraries-that-come-along.md). */
const COME_ALONG = ['zod', 'dockerode', 'commander'];
/** Parts of them that we have no use for, and that take longer to load than all the rest: gRPC, ssh, archives of folders, languages. */
const LEFT_OUT = ['./session', './ssh', 'tar-fs', '../locales/index.js'];
/**
 * Parts of Node that are taken as objects. `import … from 'node:http'` reads every export there is, also the one that loads the fetch and
 * WebSocket of Node: 30 ms for each command; the others have such exports too. Of an object, what nobody reads is not loaded.
 */
const AS_OBJECTS = ['node:http', 'node:process', 'node:util'];

const packages: Plugin = {
  name: 'packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point') return undefined;
      const isInLibrary = importer.includes('/node_modules/');
      if (isInLibrary && LEFT_OUT.includes(path)) return { path, namespace: 'left-out' };
      if (isBuiltin(path)) {
        // Libraries that `require` find it that way too, since a module cannot.
        const asObject = kind === 'require-call' || (kind === 'import-statement' && AS_OBJECTS.includes(path));
        return asObject ? { path, namespace: 'builtin' } : { path, external: true };
      }
      const comesAlong =
        isInLibrary || path.startsWith('.') || COME_ALONG.some((name) => name === path.split('/', 1)[0]);
      return comesAlong ? undefined : { path, external: true };
    });
    onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}')`,
    }));
    onLoad({ filter: /.*/, namespace: 'left-out' }, ({ path }) => ({
      contents: `module.exports = () => { throw new Error('${path} is not part of sally') }`,
    }));
  },
};

/**
 * What is published: our own code in a few files, libraries left to npm so that their security fixes reach users without
 * a release of ours. Splitting keeps each command's code out of the way of the others: `sally --version` loads almost nothing.
 */
async function built(program: string): Promise<readonly OutputFile[]> {
  const { outputFiles } = await build({
    entryPoints: { [program]: `src/${program}.ts` },
    outdir: FOLDER,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    plugins: [packages, throughDoors],
    sourcemap: 'linked',
    sourcesContent: false,
    logLevel: 'warning',
    write: false,
  });
  return outputFiles;
}

const outputFiles = (await Promise.all(PROGRAMS.map(built))).flat();

// Each file appears whole, and the entries last: a program that starts, or loads a part, while we build finds all of the old or all of
// the new. Parts have their content in their names, so older ones do no harm until they are forgotten.
await mkdir(FOLDER, { recursive: true });
const isEntry = ({ path }: { readonly path: string }): boolean => PROGRAMS.includes(basename(path, '.js'));
for (const file of outputFiles.sort((a, b) => Number(isEntry(a)) - Number(isEntry(b)))) {
  const place = join(FOLDER, basename(file.path));
  const draft = `${place}.${process.pid}`;
  await writeFile(draft, file.contents);
  await rename(draft, place);
}
const made = new Set(outputFiles.map(({ path }) => basename(path)));
for (const name of await readdir(FOLDER)) {
  const place = join(FOLDER, name);
  const age = Date.now() - (await stat(place).catch(() => ({ mtimeMs: Date.now() }))).mtimeMs;
  if (!made.has(name) && age > FORGOTTEN) await rm(place, { force: true });
}
