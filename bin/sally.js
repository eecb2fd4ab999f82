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
  import('node:module').then((module) => {
    module.enableCompileCache();
    return import('../dist/main.js');
  });
}
