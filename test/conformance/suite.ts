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
  // The suite tests the guard against DNS rebinding only under this name.
  const address = url.replace('//127.0.0.1:', '//localhost:');
  const args = ['--url', address, '--requirements', requirements, '--timeout', `${SCENARIO_TIMEOUT_MS}`];
  return await run('server', args, { requirements, folder, signal });
}

export interface AuthorizationServer {
  readonly issuer: string;
  readonly resource: string;
  readonly clientId: string;
  /** The port of this machine that the client waits at, as it was registered. */
  readonly port: number;
  /** Does what a user does who is sent to this address, to the end. */
  logIn(address: string): Promise<void>;
}

/** Runs the suite's authorization role: it plays the client, and says where its user has to go. */
export async function runAuthorizationSuite(
  server: AuthorizationServer,
  requirements: Requirements,
  folder: string,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { issuer, resource, clientId, port } = server;
  const asked = ['--url', issuer, '--resource', resource, '--client-id', clientId, '--port', `${port}`];
  const failed = new AbortController();
  let sent = false;
  let failure: unknown;
  function heard(output: string): void {
    const address = output.split(/\s/).find((word) => word.startsWith(`${issuer}/`) && word.includes('client_id='));
    // Until the line is whole.
    if (sent || address === undefined || !output.includes('Waiting')) return;
    sent = true;
    server.logIn(address).catch((error: unknown) => {
      failure = error;
      failed.abort(); // it would wait for five minutes
    });
  }
  const stop = signal ? AbortSignal.any([signal, failed.signal]) : failed.signal;
  const options = { requirements, folder, signal: stop, heard };
  return await run('authorization', [...asked, '--spec-version', requirements], options).catch((error: unknown) => {
    throw failure ?? error;
  });
}

interface RoleOptions {
  readonly requirements: Requirements;
  readonly folder: string;
  readonly signal: AbortSignal | undefined;
  /** Is given everything that was printed so far, each time that there is more. */
  readonly heard?: (output: string) => void;
}

async function run(role: string, args: readonly string[], options: RoleOptions): Promise<Outcome> {
  const { requirements, folder, signal, heard } = options;
  const started = performance.now();
  const child = spawn(process.execPath, [join(SUITE, 'dist/index.js'), role, ...args, '-o', folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal ? { signal } : {}),
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      heard?.(output);
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

/** One folder for each scenario: `server-NAME-TIME/checks.json`, or `authorization-server-NAME-TIME`. A scenario that threw leaves its folder empty. */
async function readChecks(folder: string): Promise<Map<string, readonly Check[]>> {
  const entries = (await readdir(folder)).sort();
  const threw: Check = {
    id: 'scenario-ended',
    status: 'FAILURE',
    errorMessage: 'the scenario threw and has no checks',
  };
  const read = entries.map(async (entry): Promise<[string, Check[]]> => {
    const name = entry.replace(/^(authorization-)?server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
    const text = await readFile(join(folder, entry, 'checks.json'), 'utf8').catch(() => JSON.stringify([threw]));
    return [name, JSON.parse(text) as Check[]];
  });
  return new Map(await Promise.all(read));
}
