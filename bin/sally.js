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
  import('node:module')
    .then((module) => {
      module.enableCompileCache();
      return import('../dist/main.js');
    })
    .catch((error) => {
      if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
      process.stderr.write('sally is not built here, or its packages are not installed. In a checkout run: npm ci\n');
      process.exitCode = 5;
    });
}
