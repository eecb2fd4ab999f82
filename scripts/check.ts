import { spawnSync } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';

/** `npm run check`: everything that needs no network and no server, with a line for each thing that was checked. */
const CHECKS: readonly { readonly what: string; readonly command: readonly string[] }[] = [
  { what: 'format and lint', command: ['biome', 'check', '--error-on-warnings', '.'] },
  { what: 'types', command: ['tsc', '--project', '.'] },
  { what: 'generated files are up to date', command: ['node', 'scripts/generate.ts', '--check'] },
  { what: 'build', command: ['node', 'scripts/build.ts'] },
  { what: 'unit tests', command: ['vitest', 'run', '--project', 'unit', '--reporter=dot'] },
];

let failed = 0;
for (const { what, command } of CHECKS) {
  const [program = '', ...args] = command;
  const started = performance.now();
  const run = spawnSync(program, args, { encoding: 'utf8' });
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  const ok = run.status === 0;
  if (!ok) failed += 1;
  process.stdout.write(`${ok ? 'ok    ' : 'FAILED'} ${what} (${seconds} s)\n`);
  const output = `${run.stdout ?? ''}${run.stderr ?? ''}${run.error ? `${run.error.message}\n` : ''}`;
  if (!ok) process.stdout.write(`${output}\n`);
  else if (what === 'unit tests') process.stdout.write(summary(output));
}
process.exitCode = failed === 0 ? 0 : 1;

/** vitest's own closing lines: how many files and tests ran. */
function summary(output: string): string {
  return stripVTControlCharacters(output)
    .split('\n')
    .filter((line) => /^\s*(Test Files|Tests)\s/.test(line))
    .map((line) => `       ${line.trim()}\n`)
    .join('');
}
