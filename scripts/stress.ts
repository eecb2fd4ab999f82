import { execFileSync } from 'node:child_process';
import { SERVER_IMAGE, startDocker } from '../test/support/engine.ts';
import { ensurePrograms } from '../test/support/programs.ts';
import { proveNoCrossings } from '../test/support/proofs/crossings.ts';
import { proveCycles } from '../test/support/proofs/cycles.ts';
import { proveFailover } from '../test/support/proofs/failover.ts';
import {
  proveKilledLogin,
  proveKilledOwnRefresh,
  proveKilledRefresh,
  type RefreshStep,
} from '../test/support/proofs/killed.ts';
import { proveOneRefresh } from '../test/support/proofs/one-refresh.ts';

/** The long forms of what `npm test` shows in short, with their figures. `npm run stress -- failover` runs one of them. */
const PROOFS: Readonly<Record<string, () => Promise<object>>> = {
  crossings: () => proveNoCrossings({ users: 50, calls: 10_000 }),
  refresh: () => proveOneRefresh({ rounds: 50, calls: 200 }),
  failover: () => proveFailover({ before: 5_000, after: 15_000 }),
  'killed-login': () => proveKilledLogin({ every: 1 }),
  'killed-own-refresh': () => proveKilledOwnRefresh({ steps: Array.from({ length: 12 }, (_, n) => n + 1) }),
  'killed-refresh': () => proveKilledRefresh(refreshSteps(10)),
  'cycles-process': () => proveCycles({ cycles: 100, server: 'npx://good', flags: ['--runtime', 'process'] }),
  'cycles-container': () => containerCycles([]),
  'cycles-relay': () => containerCycles(['--transport', 'streamable-http']),
};

async function containerCycles(flags: readonly string[]): Promise<object> {
  await using engine = await startDocker();
  return await proveCycles({ cycles: 100, server: SERVER_IMAGE, flags, engine });
}

function refreshSteps(most: number): readonly RefreshStep[] {
  const numbers = Array.from({ length: most }, (_, n) => n + 1);
  const held = numbers.flatMap((step): RefreshStep[] => [
    { at: 'before', step },
    { at: 'after', step },
  ]);
  return [{ at: 'provider' }, ...held];
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !Object.hasOwn(PROOFS, name));
if (unknown.length > 0) {
  console.error(`there is no ${unknown.join(', ')}; there are ${Object.keys(PROOFS).join(', ')}`);
  process.exit(2);
}
ensurePrograms();
execFileSync(process.execPath, ['scripts/build.ts'], { stdio: 'inherit' });
for (const [name, prove] of Object.entries(PROOFS)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const began = performance.now();
  const figures = await prove();
  console.log(`${name} (${Math.round((performance.now() - began) / 1000)} s)`);
  for (const [what, figure] of Object.entries(figures)) console.log(`  ${what}: ${JSON.stringify(figure)}`);
  if ('before' in figures && 'after' in figures) console.table({ before: figures.before, after: figures.after });
}
