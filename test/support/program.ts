import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from './processes.ts';
import { ROOT } from './sally.ts';

/** A program of the repository that people run in a terminal. */
export interface Running {
  readonly process: ChildProcessWithoutNullStreams;
  /** What it wrote so far, errors and all. */
  output(): string;
  /** Waits until it has written this so many times. */
  says(text: string, times?: number): Promise<void>;
  /** Waits for its end, or asks for it when it would go on. */
  end(): Promise<number | null>;
}

export interface RunningOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** Milliseconds to wait for its words. */
  readonly patience?: number;
}

export function runProgram(program: string, args: readonly string[], options: RunningOptions = {}): Running {
  const { env = {}, patience = 20_000 } = options;
  const child = spawn(process.execPath, [program, ...args], { cwd: ROOT, env: { ...process.env, ...env } });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
  }
  const hasEnded = (): boolean => child.exitCode !== null || child.signalCode !== null;
  return {
    process: child,
    output: () => text,
    async says(wanted, times = 1) {
      const isSaid = (): boolean => text.split(wanted).length > times;
      await eventually(() => isSaid() || hasEnded(), Boolean, patience).catch((error: unknown) => {
        throw new Error(`${program} has not said "${wanted}":\n${text}`, { cause: error });
      });
      if (!isSaid()) throw new Error(`${program} ended (${child.exitCode}) without saying it:\n${text}`);
    },
    async end() {
      if (hasEnded()) return child.exitCode;
      const insist = setTimeout(() => child.kill('SIGTERM'), 15_000);
      const [code] = (await once(child, 'exit')) as [number | null];
      clearTimeout(insist);
      return code;
    },
  };
}

/** Where the example client asks its user to log in. */
export function loginAddressIn(output: string): string {
  const found = /^ {2}(http:\S+\/oauth\/authorize\?\S+)$/m.exec(output)?.[1];
  if (!found) throw new Error(`no address to log in at:\n${output}`);
  return found;
}
