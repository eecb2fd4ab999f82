import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../base/index.ts';
import type { Environment, Launch } from '../../launch.ts';
import { serverEnvironment } from './environment.ts';
import { type Exit, notSpawned } from './failures.ts';
import { isGroupGone } from './group-members.ts';
import type { Guardian } from './guardian.ts';

/** A killed process needs a moment to go. One that takes longer hangs in the kernel, out of everybody's reach. */
const KILL_TAKES_MS = 1_000;
/** Output that is still on its way when the last process is gone. */
const DRAIN_MS = 250;

export interface GroupParts {
  readonly guardian: Guardian;
  readonly log: Log;
  /** Our own environment; a server sees little of it. */
  readonly env: Environment;
}

export interface Graces {
  readonly stdinMs: number;
  readonly termMs: number;
}

/** A process and all that it starts, in a process group and a session of their own. */
export interface ProcessGroup {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The first process is gone; others of its group may still run. */
  readonly exited: Promise<Exit>;
  /** Ends stdin, then sends SIGTERM, then SIGKILL. Resolves when the group is empty and its output was read. Call it once. */
  end(graces: Graces): Promise<void>;
}

export async function spawnGroup(launch: Launch, { guardian, log, env }: GroupParts): Promise<ProcessGroup> {
  const child = start(launch, env);
  // Before anything can happen in between: from here on the process cannot outlive us.
  if (child.pid !== undefined) guardian.watch(child.pid);
  const exited = new Promise<Exit>((resolve) => {
    child.once('exit', (code, signal) => resolve({ code, signal }));
  });
  const drained = new Promise<true>((resolve) => {
    child.once('close', () => resolve(true));
  });
  // The streams end when the process does, and `exited` tells of that. A broken pipe has nothing to add.
  for (const source of [child, ...child.stdio]) source?.on('error', () => {});

  try {
    await once(child, 'spawn');
  } catch (error) {
    throw notSpawned(launch, error);
  }
  // Never guessed: a signal to group 0 would reach ourselves.
  if (child.pid === undefined) throw notSpawned(launch, undefined);
  const pid: number = child.pid;

  /** Sends a signal to whoever is left. */
  function signal(name: NodeJS.Signals): void {
    try {
      process.kill(-pid, name);
    } catch {
      // Nobody is left, or nobody whom we may signal: `isGroupGone` sees the same.
    }
  }

  async function goneWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    if ((await within(exited, ms)) === undefined) return false;
    // The system reports only our own child to us. Its descendants have to be asked after.
    for (let pause = 2; !isGroupGone(pid); pause = Math.min(2 * pause, 50)) {
      if (performance.now() >= deadline) return false;
      await sleep(pause);
    }
    return true;
  }

  async function end({ stdinMs, termMs }: Graces): Promise<void> {
    child.stdin.end();
    // stdin belongs to the first process. When that is gone, whoever is left waits for a signal and for nothing else.
    await within(exited, stdinMs);
    let gone = await goneWithin(0);
    if (!gone) {
      signal('SIGTERM');
      gone = await goneWithin(termMs);
    }
    if (!gone) {
      signal('SIGKILL');
      gone = await goneWithin(KILL_TAKES_MS);
    }
    if (!gone) log.warn('a server process was killed and is not gone yet', { server: launch.name, pid });
    // In any case: nothing ends sooner by being killed twice, and the number may get another owner.
    guardian.release(pid);
    // A descendant that left the group may hold our pipes open: we do not wait for it.
    await within(drained, DRAIN_MS);
    for (const stream of child.stdio) stream?.destroy();
  }

  return { pid, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, end };
}

function start(launch: Launch, env: Environment) {
  try {
    return spawn(launch.command, launch.args, {
      ...(launch.cwd === undefined ? {} : { cwd: launch.cwd }),
      env: serverEnvironment(env, launch.env),
      detached: true,
      stdio: 'pipe',
    });
  } catch (error) {
    throw notSpawned(launch, error);
  }
}

/** What the promise gives, or `undefined` when it takes longer. Leaves no timer behind. */
async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const waiting = new AbortController();
  try {
    const late = sleep(ms, undefined, { signal: waiting.signal }).catch(() => undefined);
    return await Promise.race([promise, late]);
  } finally {
    waiting.abort();
  }
}
