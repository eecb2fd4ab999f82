#!/usr/bin/env node
// Plain old JavaScript on purpose: an old Node must be able to read this file far enough to say what it needs.

var needed = 24;
if (parseInt(process.versions.node, 10) < needed) {
  process.stderr.write(
    'sally needs Node.js ' +
      needed +
      ' or newer, this is ' +
      process.versions.node +
      '. Get it with: npx -p node@' +
      needed +
      ' -p sallyport sally\n',
  );
  process.exitCode = 5;
} else {
  keepCompiled();
  import('../dist/main.js').catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    process.stderr.write('sally is not built here, or its packages are not installed. In a checkout run: npm ci\n');
    process.exitCode = 5;
  });
}

/**
 * Starts are faster when Node finds our code compiled. Whoever can write to that folder decides what we do, so it is not the one that
 * Node would take, which everybody shares: it is in the cache folder of this user, as src/base/directories.ts names it.
 */
function keepCompiled() {
  const { lstatSync, mkdirSync } = process.getBuiltinModule('node:fs');
  const { join } = process.getBuiltinModule('node:path');
  const { SALLYPORT_HOME, XDG_CACHE_HOME, HOME } = process.env;
  const caches = XDG_CACHE_HOME || join(HOME || process.getBuiltinModule('node:os').homedir(), '.cache');
  const folder = join(SALLYPORT_HOME ? join(SALLYPORT_HOME, 'cache') : join(caches, 'sallyport'), 'compiled');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const { uid, mode } = lstatSync(folder);
    const isOurs = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (isOurs) process.getBuiltinModule('node:module').enableCompileCache(folder);
  } catch {
    // No place to keep it: then it is compiled each time.
  }
}
