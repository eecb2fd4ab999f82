import { execFileSync } from 'node:child_process';
import { randomInt } from 'node:crypto';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { check, PROPERTIES } from '../test/fuzz/properties/index.ts';
import { fuzzWire } from '../test/fuzz/wire.ts';

/**
 * `npm run fuzz`: the properties of `npm test` with ever new inputs, then a real gateway between hostile clients and hostile
 * servers, with an honest client that has to be served all the time.
 *
 *     node scripts/fuzz.ts [--seconds N] [--seed N] [--only properties|wire]
 *
 * On failure it prints the seed. A property fails again with it to the letter; on the wire the same attacks come in the same order.
 */
const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    seed: { type: 'string' },
    only: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const seed = values.seed === undefined ? randomInt(2 ** 31) : Number(values.seed);
if (!(seconds > 0) || !Number.isSafeInteger(seed) || !['properties', 'wire', undefined].includes(values.only)) {
  process.stderr.write('usage: node scripts/fuzz.ts [--seconds N] [--seed N] [--only properties|wire]\n');
  process.exit(2);
}
process.stdout.write(`seed ${seed}\n`);

try {
  if (values.only !== 'wire') await fuzzProperties(values.only ? seconds : seconds * 0.4);
  if (values.only !== 'properties') await fuzzTheWire(values.only ? seconds : seconds * 0.6);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\nfailed with --seed ${seed}\n`);
  process.exitCode = 1;
}

async function fuzzProperties(time: number): Promise<void> {
  const until = performance.now() + time * 1_000;
  let runs = 0;
  for (let round = 0; round === 0 || performance.now() < until; round++) {
    for (const property of PROPERTIES) {
      if (round > 0 && performance.now() >= until) break;
      await check(property, { seed: seed + round });
      runs += property.runs;
    }
  }
  process.stdout.write(`${PROPERTIES.length} properties held for ${runs} inputs\n`);
}

async function fuzzTheWire(time: number): Promise<void> {
  execFileSync(process.execPath, ['scripts/build.ts'], { cwd: resolve(import.meta.dirname, '..'), stdio: 'inherit' });
  const { attacks, canaries, slowestCanary, peakMegabytes, endMegabytes } = await fuzzWire(seed, time);
  for (const [name, count] of Object.entries(attacks)) process.stdout.write(`${String(count).padStart(6)} ${name}\n`);
  process.stdout.write(
    `the honest client was served ${canaries} times, in at most ${slowestCanary.toFixed(0)} ms; ` +
      `memory ${peakMegabytes} MB at most, ${endMegabytes} MB afterwards\n`,
  );
}
