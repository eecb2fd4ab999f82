import { readFileSync } from 'node:fs';

/** The only file that touches argv, the environment, signals and the exit code. It loads nothing it does not need yet. */

const home = new URL('../', import.meta.url);
const { version } = JSON.parse(readFileSync(new URL('package.json', home), 'utf8')) as { version: string };
const argv = process.argv.slice(2);

// A reader that went away (`sally … | head`) is no reason to stop serving, nor to crash.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

if (argv.length === 1 && (argv[0] === '--version' || argv[0] === '-V')) {
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

/** For commands that keep running: the first Ctrl-C asks for a clean end, the second one insists. Others end as every program does. */
function untilStopped(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(signal === 'SIGINT' ? 130 : 143);
    stop.abort(signal);
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  process.on('SIGHUP', onSignal);
  return stop.signal;
}
