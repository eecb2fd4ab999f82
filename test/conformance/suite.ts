import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT } from '../support/sally.ts';
import type { Requirements } from './configurations.ts';

export type Status = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';

export interface Check {
  readonly id: string;
  readonly status: Status;
  readonly errorMessage?: string;
}

/** What the suite found, scenario by scenario. */
export interface Outcome {
  readonly requirements: Requirements;
  readonly scenarios: ReadonlyMap<string, readonly Check[]>;
  /** The suite's own verdict over the scenarios that count. */
  readonly scored: boolean;
  readonly seconds: number;
}

const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance');
/** For one scenario; the longest of the bare fixture takes three seconds. One that runs into it fails `scenario-timeout`. */
const SCENARIO_TIMEOUT_MS = 20_000;

/** Runs the official suite's server role against a URL; its files stay in `folder`. */
export async function runSuite(
  url: string,
  requirements: Requirements,
  folder: string,
  signal?: AbortSignal,
): Promise<Outcome> {
  const started = performance.now();
  // The suite tests the guard against DNS rebinding only under this name.
  const address = url.replace('//127.0.0.1:', '//localhost:');
  const args = ['--url', address, '--requirements', requirements, '-o', folder, '--timeout', `${SCENARIO_TIMEOUT_MS}`];
  const child = spawn(process.execPath, [join(SUITE, 'dist/index.js'), 'server', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
    });
  }
  const [code] = (await once(child, 'close')) as [number | null];
  const scenarios = await readChecks(folder);
  if (scenarios.size === 0) throw new Error(`the suite ended with ${code} and no results:\n${output}`);
  return {
    requirements,
    scenarios,
    scored: code === 0,
    seconds: (performance.now() - started) / 1000,
  };
}

/** One folder for each scenario: `server-NAME-TIME/checks.json`. A scenario that threw leaves its folder empty. */
async function readChecks(folder: string): Promise<Map<string, readonly Check[]>> {
  const entries = (await readdir(folder)).sort();
  const threw: Check = {
    id: 'scenario-ended',
    status: 'FAILURE',
    errorMessage: 'the scenario threw and has no checks',
  };
  const read = entries.map(async (entry): Promise<[string, Check[]]> => {
    const name = entry.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
    const text = await readFile(join(folder, entry, 'checks.json'), 'utf8').catch(() => JSON.stringify([threw]));
    return [name, JSON.parse(text) as Check[]];
  });
  return new Map(await Promise.all(read));
}
