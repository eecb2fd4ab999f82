import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { CONFIGURATIONS } from '../test/conformance/configurations.ts';
import { unexpected } from '../test/conformance/judge.ts';
import { nameOf, page, printed } from '../test/conformance/report.ts';
import { type Run, runConformance } from '../test/conformance/run.ts';

/**
 * `npm run conformance`: the official suite through the real gateway, judged by what the fixture does without it.
 *
 *     node scripts/conformance.ts [--only NAME[@REQUIREMENTS]]... [--json] [--keep FOLDER] [--jobs N]
 *
 * A full run writes docs/conformance.md. Exit code 1 when a check fails that the bare fixture passes.
 */
const ROOT = resolve(import.meta.dirname, '..');
const { values } = parseArgs({
  options: {
    only: { type: 'string', multiple: true, default: [] },
    json: { type: 'boolean', default: false },
    keep: { type: 'string' },
    jobs: { type: 'string', default: '2' },
  },
});

const all = CONFIGURATIONS.flatMap((configuration) =>
  configuration.at.map((requirements): Run => ({ configuration, requirements })),
);
const runs = all.filter(
  (run) =>
    values.only.length === 0 || values.only.some((only) => only === run.configuration.name || only === nameOf(run)),
);
if (runs.length === 0) {
  process.stderr.write(`no such configuration; there are ${CONFIGURATIONS.map(({ name }) => name).join(', ')}\n`);
  process.exit(2);
}

execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: 'inherit' });
const stop = new AbortController();
process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());

const results = await runConformance(runs, {
  jobs: Number(values.jobs),
  signal: stop.signal,
  ...(values.keep === undefined ? {} : { keep: resolve(values.keep) }),
  tell(result) {
    const missed = unexpected(result.findings).length;
    process.stderr.write(`${nameOf(result)}: ${missed === 0 ? 'as expected' : `${missed} unexpected`}\n`);
  },
}).catch((error: unknown) => {
  if (stop.signal.aborted) process.exit(130);
  throw error;
});

if (values.only.length === 0) writeFileSync(join(ROOT, 'docs/conformance.md'), page(results));
process.stdout.write(values.json ? `${JSON.stringify(results.map(forMachines), null, 2)}\n` : `\n${printed(results)}`);
process.exitCode = results.some(({ findings }) => unexpected(findings).length > 0) ? 1 : 0;

function forMachines({ configuration, requirements, outcome, findings }: (typeof results)[number]): object {
  return {
    configuration: configuration.name,
    requirements,
    findings,
    ...(outcome ? { ...outcome, scenarios: Object.fromEntries(outcome.scenarios) } : {}),
  };
}
