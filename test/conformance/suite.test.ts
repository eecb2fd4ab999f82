import { describe, expect, it } from 'vitest';
import { CONFIGURATIONS } from './configurations.ts';
import { complaints, nameOf } from './report.ts';
import { type Run, runConformance } from './run.ts';

/** The runs that reach most of the gateway: both bridges between the eras, aggregation of all kinds, a process, and a login. */
const TELLING = [
  'one-legacy@2026-07-28',
  'one-modern@2025-11-25',
  'split-mixed@2025-11-25',
  'split-mixed@2026-07-28',
  'stdio-shared@2026-07-28',
  'login@2025-11-25',
  'login@2026-07-28',
];

describe('the official conformance suite', () => {
  const runs = CONFIGURATIONS.flatMap((configuration) =>
    configuration.at.map((requirements): Run => ({ configuration, requirements })),
  ).filter((run) => TELLING.includes(nameOf(run)));

  it('passes behind the gateway wherever it passes without', { timeout: 600_000 }, async () => {
    expect(runs).toHaveLength(TELLING.length);
    const results = await runConformance(runs);
    expect(results.flatMap(complaints)).toEqual([]);
  });
});
