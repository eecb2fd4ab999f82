import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { createInterface } from 'node:readline';

/** The process under test has a core to itself; the backend and the load share the other. */
export type Core = 'tested' | 'around';

const CAN_PIN = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0;

export function pinned(core: Core, command: readonly string[]): readonly string[] {
  return CAN_PIN ? ['taskset', '-c', core === 'tested' ? '0' : '1', ...command] : command;
}

/** Puts a process that already runs, with all its threads, on its core. */
export function pin(core: Core, pid: number): void {
  if (CAN_PIN) spawnSync('taskset', ['-acp', core === 'tested' ? '0' : '1', String(pid)]);
}

export interface Started extends AsyncDisposable {
  readonly pid: number;
  /** The first line it wrote to standard output. */
  readonly firstLine: string;
}

export interface StartOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Some programs say nothing when they are ready; those are waited for in another way. */
  readonly silent?: boolean;
}

/** Starts a program and waits for its first line. `taskset` turns into the program, so the process id is the program's own. */
export async function start(core: Core, command: readonly string[], options: StartOptions = {}): Promise<Started> {
  const [program = '', ...args] = pinned(core, command);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...options.env } });
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints = (complaints + text).slice(-4_000);
  });
  if (options.silent) child.stdout.resume();
  const firstLine = options.silent ? '' : await firstLineOf(child, () => complaints);
  return { pid: child.pid ?? 0, firstLine, [Symbol.asyncDispose]: () => stop(child) };
}

async function firstLineOf(child: ChildProcess, complaints: () => string): Promise<string> {
  const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  const ended = once(child, 'close').then(() => {
    throw new Error(`${child.spawnargs.join(' ')} ended early:\n${complaints()}`);
  });
  const [line] = (await Promise.race([once(lines, 'line'), ended])) as [string];
  ended.catch(() => {}); // from here on it may end
  return line;
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  const late = setTimeout(() => child.kill('SIGKILL'), 2_000);
  await once(child, 'close');
  clearTimeout(late);
}

/** User and system time a process has used, in microseconds. Linux counts in hundredths of a second. */
export function cpuMicros(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

/** Resident memory in megabytes. */
export function rssMegabytes(pid: number): number {
  const [, kilobytes = '0'] = /^VmRSS:\s+([0-9]+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
  return Number(kilobytes) / 1024;
}
