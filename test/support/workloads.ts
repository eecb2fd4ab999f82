import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { homeOf } from '../../src/workloads/runtimes/engine/labels.ts';
import { installServers, type ServerName } from './mcp-servers.ts';
import { processesWith } from './processes.ts';
import { type Finished, type RunOptions, sally } from './sally.ts';

/** A home of its own for workloads, with servers to run, and with a mark on everything that is started from it. */
export interface WorkloadHome extends AsyncDisposable {
  /** Where commands are given: `npx://good` is installed here. */
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  sally(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** The same, and fails when the command does. */
  ok(args: readonly string[], options?: RunOptions): Promise<string>;
  json<T = Record<string, unknown>>(args: readonly string[]): Promise<T>;
  /** Every process that was started from here and still runs. */
  processes(): readonly number[];
}

export interface View {
  readonly name: string;
  readonly status: string;
  readonly url?: string;
  readonly pid?: number;
  readonly group?: string;
  readonly error?: string;
  readonly repair?: string;
}

/** The same home, with more in the environment of every command. */
export function withEnv(home: WorkloadHome, more: Readonly<Record<string, string>>): WorkloadHome {
  const env = { ...home.env, ...more };
  const merged = (options: RunOptions = {}): RunOptions => ({ ...options, env: { ...more, ...options.env } });
  return {
    ...home,
    env,
    sally: (args, options) => home.sally(args, merged(options)),
    ok: (args, options) => home.ok(args, merged(options)),
    json: async <T>(args: readonly string[]) => JSON.parse(await home.ok([...args, '--format', 'json'], merged())) as T,
    async [Symbol.asyncDispose]() {
      await home.sally(['rm', '--all'], merged());
      await home[Symbol.asyncDispose]();
    },
  };
}

let count = 0;
const homes: string[] = [];

/** What containers of homes made here carry as their label. Vitest gives every test file its own copy of this module. */
export function homesOfThisFile(): readonly string[] {
  return homes;
}

/** `more` are further variables for every command, such as where a container engine is. */
export async function workloadHome(
  servers: readonly ServerName[] = ['good'],
  more: Readonly<Record<string, string>> = {},
): Promise<WorkloadHome> {
  const folder = await mkdtemp(join(tmpdir(), 'sally-home-'));
  await installServers(folder, servers);
  const mark = `home-${process.pid}-${++count}`;
  const env = { SALLYPORT_HOME: join(folder, 'home'), XDG_TEST_MARK: mark, ...more };
  homes.push(homeOf(env));
  const run = (args: readonly string[], options: RunOptions = {}): Promise<Finished> =>
    sally(args, { cwd: folder, ...options, env: { ...env, ...options.env } });

  async function ok(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const { code, stdout, stderr } = await run(args, options);
    if (code !== 0) throw new Error(`sally ${args.join(' ')} ended with ${code}:\n${stderr}`);
    return stdout;
  }

  return {
    folder,
    env,
    sally: run,
    ok,
    json: async <T>(args: readonly string[]) => JSON.parse(await ok([...args, '--format', 'json'])) as T,
    processes: () => processesWith('XDG_TEST_MARK', mark),
    async [Symbol.asyncDispose]() {
      await run(['rm', '--all']);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
