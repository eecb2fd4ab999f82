import { type ChildProcess, spawn } from 'node:child_process';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Handed } from './handed.ts';
import type { LifecycleParts } from './parts.ts';

/** A process of its own, which loads and waits for what it is to look after. */
export interface CalledSupervisor {
  readonly child: ChildProcess;
  /** From now on it does not need us. */
  hand(handed: Handed): Promise<void>;
  /** It has nothing to do after all. */
  dismiss(): void;
}

/** Calls a supervisor for a workload whose folder is there. */
export async function callSupervisor(
  name: string,
  { instance, debug }: { readonly instance: string; readonly debug: boolean },
  { store, env, self }: Pick<LifecycleParts, 'store' | 'env' | 'self'>,
): Promise<CalledSupervisor> {
  // What it says before it has a log, or when it crashes, goes there too.
  await using log = await open(store.logFile(name, 'supervisor'), 'a', 0o600);
  const [command, ...args] = self;
  const child = spawn(command, [...args, 'supervise', name, '--instance', instance, ...(debug ? ['--debug'] : [])], {
    cwd: '/', // it must not keep a folder busy
    detached: true, // a session of its own: neither Ctrl-C nor the end of the terminal is meant for it
    stdio: ['pipe', log.fd, log.fd],
    // Our folder may be named relative to where we are, and the supervisor is elsewhere.
    env: { ...env, ...(env.SALLYPORT_HOME ? { SALLYPORT_HOME: resolve(env.SALLYPORT_HOME) } : {}) },
  });
  child.on('error', () => {}); // seen by whoever waits for it
  child.stdin?.on('error', () => {}); // it ended early, which is seen as well
  return {
    child,
    async hand(handed) {
      // Not on the command line and not in its environment, where others could read them.
      await new Promise((resolve) => child.stdin?.end(JSON.stringify(handed), () => resolve(undefined)));
      child.unref();
    },
    dismiss: () => void child.kill('SIGKILL'), // nothing is begun yet
  };
}
