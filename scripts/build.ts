import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { build, type Plugin } from 'esbuild';

const FOLDER = 'dist';
/** Files that no build has made for this long belong to nobody, in milliseconds. What is published or installed is this build alone. */
const FORGOTTEN = process.env.npm_lifecycle_event === 'prepare' ? 0 : 60 * 60_000;

/** Libraries that come along instead of being left to npm (docs/decisions/0031-libraries-that-come-along.md). */
const COME_ALONG = ['zod', 'dockerode'];
/** Parts of them that we have no use for, and that take longer to load than all the rest: gRPC, ssh, archives of folders. */
const LEFT_OUT = ['./session', './ssh', 'tar-fs'];

const packages: Plugin = {
  name: 'packages',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /.*/ }, ({ path, importer, kind }) => {
      if (kind === 'entry-point') return undefined;
      const isInLibrary = importer.includes('/node_modules/');
      if (isInLibrary && LEFT_OUT.includes(path)) return { path, namespace: 'left-out' };
      if (isBuiltin(path)) {
        // `import … from 'node:http'` reads every export there is, also the one that loads the fetch and WebSocket of Node: 30 ms for
        // each command. Taken as an object, what nobody reads is not loaded. And libraries that `require` cannot, in a module.
        const asObject = path === 'node:http' || kind === 'require-call';
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
const { outputFiles } = await build({
  entryPoints: { main: 'src/main.ts' },
  outdir: FOLDER,
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  plugins: [packages],
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
  write: false,
});

// Each file appears whole, and the entry last: a program that starts, or loads a part, while we build finds all of the old or all of
// the new. Parts have their content in their names, so older ones do no harm until they are forgotten.
await mkdir(FOLDER, { recursive: true });
const isEntry = ({ path }: { readonly path: string }): boolean => basename(path) === 'main.js';
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
