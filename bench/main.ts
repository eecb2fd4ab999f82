import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { install, startBackend } from './backend.ts';
import { runChecks } from './checks.ts';
import { type Contenders, KEYS, type Key, startContenders } from './contenders.ts';
import { measure, type Sample } from './load.ts';
import { rssMegabytes } from './processes.ts';
import { print, type Row, targetsOf } from './report.ts';
import { median } from './statistics.ts';

/** `npm run bench [-- --quick] [-- --rounds 12] [-- --json FILE] [-- --no-checks] [-- --only many,token]`: see docs/performance.md. */
const { values: flags } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'string' },
    checks: { type: 'boolean', default: true },
    rounds: { type: 'string' },
    only: { type: 'string' },
  },
  allowNegative: true,
});
const rounds = Number(flags.rounds ?? (flags.quick ? 2 : 5));
const seconds = flags.quick ? 1 : 3;
const only = flags.only?.split(',');
/** Those who are compared more closely are compared where the targets are. */
const CONNECTIONS = only ? [32] : [1, 32, 256];

install('wrk', 'wrk');
const built = spawnSync(process.execPath, [resolve(import.meta.dirname, '../scripts/build.ts')], {
  cwd: resolve(import.meta.dirname, '..'),
  stdio: 'inherit',
});
if (built.status !== 0) process.exit(1);

const folder = await mkdtemp(join(tmpdir(), 'sally-bench-'));
try {
  await using backend = await startBackend(folder);
  const { rows, samples } = await compare();
  const checks = flags.checks ? await runChecks({ backend, folder, rounds, seconds, quick: flags.quick }) : [];
  const targets = targetsOf((of, to, what, at) => median(pairs(samples, of, to, what, at)));
  console.log(print(rows, targets, checks));
  if (flags.json !== undefined) {
    const machine = { cores: availableParallelism(), node: process.version, date: new Date().toISOString() };
    await writeFile(
      flags.json,
      `${JSON.stringify({ machine, rounds, seconds, rows, targets, checks, samples }, null, 2)}\n`,
    );
  }

  async function compare(): Promise<{ rows: Row[]; samples: Samples }> {
    await using stack = new AsyncDisposableStack();
    const contenders = await startContenders(backend, folder, stack);
    if (!contenders.mcpProxy) console.error('mcp-proxy is not installed, (c) is left out');
    const samples = await sample(contenders);
    return { rows: rowsOf(contenders, samples), samples };
  }
} finally {
  await rm(folder, { recursive: true, force: true });
}

/** Samples by contender and number of connections, one for each round. */
type Samples = Partial<Record<Key, Record<string, Sample[]>>>;

/** Everybody once, then everybody again, the last one first: a disturbance of the machine hits all of them alike. */
async function sample(contenders: Contenders): Promise<Samples> {
  const samples: Samples = {};
  const present = KEYS.filter((key) => only?.includes(key) ?? true).flatMap((key) =>
    contenders[key] ? [{ key, subject: contenders[key] }] : [],
  );
  for (const { subject } of present) await measure(subject, 32, flags.quick ? 2 : 5, folder); // compiled and warm
  for (let round = 0; round < rounds; round++) {
    for (const connections of CONNECTIONS) {
      for (const { key, subject } of round % 2 === 0 ? present : present.toReversed()) {
        const figures = await measure(subject, connections, seconds, folder);
        samples[key] ??= {};
        samples[key][connections] ??= [];
        samples[key][connections].push(figures);
      }
    }
  }
  return samples;
}

function rowsOf(contenders: Contenders, samples: Samples): Row[] {
  return KEYS.flatMap((key) => {
    const subject = contenders[key];
    if (!subject || !samples[key]) return [];
    const at = Object.fromEntries(
      Object.entries(samples[key] ?? {}).map(([connections, list]) => {
        const middle = (what: keyof Sample): number => median(list.map((each) => each[what]));
        return [
          connections,
          {
            callsPerSecond: middle('callsPerSecond'),
            cpuPerCall: middle('cpuPerCall'),
            p50: middle('p50'),
            p99: middle('p99'),
          },
        ];
      }),
    );
    return [{ key, name: subject.name, at, rss: rssMegabytes(subject.pid) }];
  });
}

function pairs(samples: Samples, of: Key, to: Key, what: 'callsPerSecond' | 'cpuPerCall', at: string): number[] {
  return (samples[of]?.[at] ?? []).map(
    (sample, round) => sample[what] / (samples[to]?.[at]?.[round]?.[what] ?? Number.NaN),
  );
}
