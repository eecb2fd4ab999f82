import { rm } from 'node:fs/promises';
import { build } from 'esbuild';

/**
 * What is published: our own code in a few files, libraries left to npm so that their security fixes reach users without
 * a release of ours. Splitting keeps each command's code out of the way of the others: `sally --version` loads almost nothing.
 */
await rm('dist', { recursive: true, force: true });
await build({
  entryPoints: { main: 'src/main.ts' },
  outdir: 'dist',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node24',
  packages: 'external',
  sourcemap: 'linked',
  sourcesContent: false,
  logLevel: 'warning',
});
