import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

export const ROOT = resolve(import.meta.dirname, '../..');
const SALLY = join(ROOT, 'bin/sally.js');
/** Shared by all homes, since starts are slow without. */
const COMPILED = join(ROOT, 'node_modules/.cache/sallyport-compiled');
/** What commands remember, apart from what the person at this machine runs. Each has its own unless a test says otherwise. */
const TEST_HOME = join(process.env.TEST_HOMES ?? tmpdir(), `sally-test-home-${process.pid}`);
let launched = 0;
process.once('exit', () => rmSync(TEST_HOME, { recursive: true, force: true }));

export interface Endpoint {
  readonly name: string;
  readonly url: string;
  readonly backends: readonly {
    readonly name: string;
    readonly state: string;
    readonly tools?: number;
    readonly error?: string;
  }[];
}

export interface SallyEvent {
  readonly event: 'ready' | 'reloaded' | 'refused';
  readonly endpoints?: readonly Endpoint[];
  readonly problems?: readonly {
    readonly file: string;
    readonly line: number;
    readonly path: string;
    readonly message: string;
  }[];
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs one `sally` command to its end. */
export async function sally(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
  const child = launch(args, options);
  const [stdout, stderr] = [collect(child.stdout), collect(child.stderr)];
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout: stdout(), stderr: stderr() };
}

export interface RunningSally extends AsyncDisposable {
  readonly process: ChildProcess;
  readonly endpoints: readonly Endpoint[];
  stderr(): string;
  /** Waits for the next event of that kind that has not been waited for yet. */
  next(event: SallyEvent['event']): Promise<SallyEvent>;
  /** Asks it to end and gives the exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Starts a `sally` that keeps running (`vmcp serve`, `run -f`) on a free port and waits until it is ready. */
export async function startSally(args: readonly string[], options: RunOptions = {}): Promise<RunningSally> {
  const end = args.includes('--') ? args.indexOf('--') : args.length;
  const child = launch([...args.slice(0, end), '--format', 'json', ...args.slice(end)], options);
  const stderr = collect(child.stderr);
  const events: SallyEvent[] = [];
  let wake = (): void => {};
  createInterface({ input: child.stdout }).on('line', (line) => {
    events.push(JSON.parse(line) as SallyEvent);
    wake();
  });
  child.once('close', () => wake());

  async function next(kind: SallyEvent['event']): Promise<SallyEvent> {
    for (;;) {
      const index = events.findIndex(({ event }) => event === kind);
      if (index >= 0) return events.splice(index, 1)[0] as SallyEvent;
      if (child.exitCode !== null || child.signalCode !== null) {
        throw new Error(`sally ended (${child.exitCode ?? child.signalCode}) before it was ${kind}:\n${stderr()}`);
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  }

  async function stop(signal: NodeJS.Signals = 'SIGINT'): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, 'close');
    }
    return child.exitCode;
  }

  const { endpoints = [] } = await next('ready');
  return {
    process: child,
    endpoints,
    stderr,
    next,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop()),
  };
}

export interface TestClient extends AsyncDisposable {
  readonly client: Client;
}

/** The official SDK's client, connected. */
export async function connectClient(url: string): Promise<TestClient> {
  const client = new Client({ name: 'sallyport-test', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  return { client, [Symbol.asyncDispose]: () => client.close() };
}

export interface TempFolder extends AsyncDisposable {
  readonly path: string;
}

export async function tempFolder(): Promise<TempFolder> {
  const path = await mkdtemp(join(tmpdir(), 'sally-test-'));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

function launch(args: readonly string[], { cwd = ROOT, env = {} }: RunOptions) {
  return spawn(process.execPath, [SALLY, ...args], {
    cwd,
    env: {
      ...process.env,
      NODE_COMPILE_CACHE: COMPILED,
      SALLYPORT_HOME: join(TEST_HOME, String(++launched)),
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = '';
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}
