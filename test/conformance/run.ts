import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { tempFolder } from '../support/sally.ts';
import { BASELINES, type Configuration, type Requirements } from './configurations.ts';
import { type Finding, judge } from './judge.ts';
import { startStand } from './stand.ts';
import { type Outcome, runSuite } from './suite.ts';

/** A configuration under one set of requirements. */
export interface Run {
  readonly configuration: Configuration;
  readonly requirements: Requirements;
}

export interface Result extends Run {
  /** Absent when nothing could be tested. */
  readonly outcome?: Outcome;
  readonly findings: readonly Finding[];
}

export interface RunOptions {
  /** Where to keep what the suite wrote; a folder that goes away when left out. */
  readonly keep?: string;
  /** How many runs at a time. */
  readonly jobs?: number;
  readonly signal?: AbortSignal;
  readonly tell?: (result: Result) => void;
}

/** Measures the bare fixtures, then every run, and judges the runs by them. The baselines come first in the result. */
export async function runConformance(runs: readonly Run[], options: RunOptions = {}): Promise<Result[]> {
  const { tell = () => {}, jobs = 1 } = options;
  await using temp = await tempFolder();
  const folder = options.keep ?? temp.path;
  const baselines = new Map<Requirements, Outcome>();
  const results: Result[] = [];

  for (const requirements of new Set(runs.map((run) => run.requirements))) {
    const configuration = BASELINES[requirements];
    const outcome = await measure({ configuration, requirements }, folder, options.signal);
    baselines.set(requirements, outcome);
    results.push({ configuration, requirements, outcome, findings: baselineFindings(outcome) });
    tell(results.at(-1) as Result);
  }

  const waiting = runs.map((run, index) => ({ run, index }));
  const judged: Result[] = [];
  async function work(): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const { run, index } = next;
      const result = await one(run, baselines.get(run.requirements) as Outcome, folder, options.signal);
      judged[index] = result;
      tell(result);
    }
  }
  // Every job ends before this does, so that nothing it started is left over.
  const ended = await Promise.allSettled(Array.from({ length: jobs }, work));
  for (const job of ended) if (job.status === 'rejected') throw job.reason;
  return [...results, ...judged];
}

async function one(run: Run, baseline: Outcome, folder: string, signal?: AbortSignal): Promise<Result> {
  try {
    const outcome = await measure(run, folder, signal);
    return { ...run, outcome, findings: judge(run.configuration, baseline, outcome) };
  } catch (error) {
    signal?.throwIfAborted();
    const message = error instanceof Error ? error.message : String(error);
    return { ...run, findings: [{ scenario: 'all', check: 'start', bare: 'SUCCESS', now: 'absent', message }] };
  }
}

async function measure(
  { configuration, requirements }: Run,
  folder: string,
  signal: AbortSignal | undefined,
): Promise<Outcome> {
  await using stand = await startStand(configuration);
  const results = join(folder, `${configuration.name}@${requirements}`);
  await mkdir(results, { recursive: true });
  return await runSuite(stand.url, requirements, results, signal);
}

/** A baseline that the suite does not accept measures nothing: everything judged by it would look better than it is. */
function baselineFindings({ scored }: Outcome): Finding[] {
  if (scored) return [];
  const message = 'the bare fixture fails a scored scenario';
  return [{ scenario: 'all', check: 'scored', bare: 'FAILURE', now: 'FAILURE', message }];
}
