import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, openSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Part } from './parts.ts';

const ROOT = resolve(import.meta.dirname, '../..');
/** Milliseconds that something has to end by itself. */
const PATIENCE = 5_000;

export interface Processes {
  /** Starts a part, which writes into a file of its own, and gives its process id. */
  start(part: Part): number;
  /** Why nobody has to wait for a part any more: one ended although nobody asked, or all are being ended. */
  readonly broken: () => string | undefined;
  /** Ends everything, what was started last first. */
  end(): Promise<void>;
}

/** The parts of the example as processes of their own, so that one can be killed without the others. */
export function createProcesses(folder: string, onEnd: (name: string, how: string) => void): Processes {
  const logs = join(folder, 'logs');
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const children: ChildProcess[] = [];
  let [isEnding, broken] = [false, undefined as string | undefined];
  // However this process ends, nothing stays behind.
  process.once('exit', () => {
    for (const child of children) child.kill('SIGKILL');
  });

  return {
    start({ name, command }) {
      if (isEnding) throw new Error('it was stopped');
      const [program, args] = runnable(command);
      const log = openSync(join(logs, `${name}.log`), 'a', 0o600);
      // Ctrl-C is for us alone, who end them in order.
      const child = spawn(program, args, { cwd: ROOT, stdio: ['ignore', log, log], detached: true });
      children.push(child);
      child.once('error', (error) => told(error.message));
      child.once('exit', (code, signal) => told(`with ${signal ?? `code ${code}`}`));
      function told(how: string): void {
        if (isEnding) return;
        broken ??= `${name} ended: ${how}`;
        onEnd(name, how);
      }
      return child.pid ?? 0;
    },
    broken: () => (isEnding ? 'it was stopped' : broken),
    async end() {
      isEnding = true;
      for (const child of children.toReversed()) await ended(child);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGTERM');
  const insist = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
  await gone;
  clearTimeout(insist);
}

/** The Node.js that runs us runs our programs too. */
function runnable([program, ...args]: Part['command']): [string, string[]] {
  if (program === 'node') return [process.execPath, args];
  if (program === 'sally') return [process.execPath, ['bin/sally.js', ...args]];
  return [program, args];
}
