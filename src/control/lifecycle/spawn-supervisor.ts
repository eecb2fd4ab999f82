import { type ChildProcess, spawn } from 'node:child_process';
import { mkdir, open } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { Handed } from './handed.ts';
import type { LifecycleParts } from './parts.ts';

/** Starts the supervisor of a workload as a process of its own, which goes on when this command is over. */
export async function spawnSupervisor(
  name: string,
  { instance, handed, debug }: { readonly instance: string; readonly handed: Handed; readonly debug: boolean },
  { store, env, self }: Pick<LifecycleParts, 'store' | 'env' | 'self'>,
): Promise<ChildProcess> {
  const path = store.logFile(name, 'supervisor');
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // What it says before it has a log, or when it crashes, goes there too.
  await using log = await open(path, 'a', 0o600);
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
  // Not on the command line and not in its environment, where others could read them.
  await new Promise((resolve) => child.stdin?.end(JSON.stringify(handed), () => resolve(undefined)));
  child.unref();
  return child;
}
