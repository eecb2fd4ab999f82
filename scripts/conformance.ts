import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { AUTHORIZATION_AT, runAuthorization } from '../test/conformance/authorization.ts';
import { CONFIGURATIONS } from '../test/conformance/configurations.ts';
import { unexpected } from '../test/conformance/judge.ts';
import { nameOf, page, printed, printedAuthorization } from '../test/conformance/report.ts';
import { type Run, runConformance } from '../test/conformance/run.ts';

/**
 * `npm run conformance`: the official suite through the real gateway, judged by what the fixture does without it, and against
 * the authorization server, where everything has to pass (`--only authorization`).
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
const isWanted = (name: string, requirements: string): boolean =>
  values.only.length === 0 || values.only.some((only) => only === name || only === `${name}@${requirements}`);
const runs = all.filter((run) => isWanted(run.configuration.name, run.requirements));
const authorizationAt = AUTHORIZATION_AT.filter((requirements) => isWanted('authorization', requirements));
if (runs.length + authorizationAt.length === 0) {
  const names = [...CONFIGURATIONS.map(({ name }) => name), 'authorization'];
  process.stderr.write(`no such configuration; there are ${names.join(', ')}\n`);
  process.exit(2);
}

execFileSync(process.execPath, ['scripts/build.ts'], { cwd: ROOT, stdio: 'inherit' });
const stop = new AbortController();
process.once('SIGINT', () => stop.abort()).once('SIGTERM', () => stop.abort());

const options = { signal: stop.signal, ...(values.keep === undefined ? {} : { keep: resolve(values.keep) }) };
const [results, authorization] = await runAll().catch((error: unknown) => {
  if (stop.signal.aborted) process.exit(130);
  throw error;
});

if (values.only.length === 0) writeFileSync(join(ROOT, 'docs/conformance.md'), page(results, authorization));
process.stdout.write(values.json ? forMachines() : `\n${printed(results)}${printedAuthorization(authorization)}`);
process.exitCode = [...results, ...authorization].some(({ findings }) => unexpected(findings).length > 0) ? 1 : 0;

async function runAll() {
  const results = await runConformance(runs, {
    ...options,
    jobs: Number(values.jobs),
    tell: (result) => tell(nameOf(result), unexpected(result.findings).length),
  });
  const authorization = authorizationAt.length > 0 ? await runAuthorization(authorizationAt, options) : [];
  for (const { requirements, findings } of authorization) tell(`authorization@${requirements}`, findings.length);
  return [results, authorization] as const;
}

function tell(name: string, missed: number): void {
  process.stderr.write(`${name}: ${missed === 0 ? 'as expected' : `${missed} unexpected`}\n`);
}

function forMachines(): string {
  const named = [
    ...results.map(({ configuration, ...result }) => ({ configuration: configuration.name, ...result })),
    ...authorization.map((result) => ({ configuration: 'authorization', ...result })),
  ];
  const plain = named.map(({ configuration, requirements, outcome, findings }) => ({
    configuration,
    requirements,
    findings,
    ...(outcome ? { ...outcome, scenarios: Object.fromEntries(outcome.scenarios) } : {}),
  }));
  return `${JSON.stringify(plain, null, 2)}\n`;
}
