import { readFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { parseArgs } from 'node:util';
import { keepHeapSmall } from './base/index.ts';
import { reportError } from './cli/index.ts';
import { createWorkloadStore, handedResolver, readHanded, supervise } from './control/supervisor/index.ts';
import { untilStopped } from './signals.ts';

/**
 * The other program of this package: the supervisor of one workload, as `run` and `start` call it. People have no use for it. It
 * knows no commands, no YAML and no schemas, since somebody waits for it.
 */

// Whoever called it may be gone before it says something.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});

const { values: flags, positionals } = parseArgs({
  args: process.argv.slice(2),
  options: { instance: { type: 'string', default: '' }, debug: { type: 'boolean', default: false } },
  allowPositionals: true,
});
const [, name = ''] = positionals;
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as {
  version: string;
};

keepHeapSmall();
try {
  const stop = untilStopped();
  const { config, secrets } = await readHanded(process.stdin);
  await supervise(name, flags.instance, config, {
    store: createWorkloadStore(process.env),
    env: process.env,
    stop,
    version,
    debug: flags.debug,
    // It may run for weeks and be killed in the end, and the next one should find it compiled.
    tell: () => void flushCompileCache(),
    resolveSecrets: handedResolver(secrets),
  });
} catch (error) {
  process.exitCode = reportError(error, { err: (text) => void process.stderr.write(text) }, flags.debug);
}
