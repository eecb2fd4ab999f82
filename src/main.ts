import { readFileSync } from 'node:fs';
import { untilStopped } from './signals.ts';

/** Argv, the environment, signals and the exit code of commands are touched here and nowhere else. It loads nothing it does not need yet. */

const home = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', home), 'utf8')) as { version: string };
const argv = process.argv.slice(2);

// A reader that went away (`sally … | head`) is no reason to stop serving, nor to crash.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

if (argv[0] === 'supervise') {
  // Not by a name that the build could follow: it is built by itself, and must not become a part of this program.
  await import(import.meta.url.replace(/main(\.\w+)$/, 'supervisor$1'));
} else if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
  process.stdout.write(`${version}\n`);
} else {
  const { keepHeapSmall } = await import('./base/index.ts');
  keepHeapSmall();
  const { runCli } = await import('./cli/index.ts');
  process.exitCode = await runCli({
    argv,
    env: process.env,
    version,
    pid: process.pid,
    self: [process.execPath, process.argv[1] ?? ''],
    home,
    untilStopped,
    isTerminal: process.stdout.isTTY === true,
    stdin: () => process.stdin,
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
  });
}
