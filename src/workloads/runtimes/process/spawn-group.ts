import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../base/index.ts';
import type { Environment, ProcessLaunch } from '../../launch.ts';
import { serverEnvironment } from './environment.ts';
import { type Exit, notSpawned } from './failures.ts';
import { groupOf, isGroupGone } from './group-members.ts';
import type { Guardian } from './guardian.ts';
import { findMarked } from './marked.ts';
import { within } from './within.ts';

/** A killed process needs a moment to go. One that takes longer hangs in the kernel, out of everybody's reach. */
const KILL_TAKES_MS = 1_000;
const KILL_TRIES = 5;
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

/** A process and all that it starts, in a process group and a session of their own. Some leave it and are found by their mark. */
export interface ProcessGroup {
  readonly pid: number;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The first process is gone; others of its group may still run. */
  readonly exited: Promise<Exit>;
  /** Ends stdin, then sends SIGTERM, then SIGKILL. Resolves when nothing is left and its output was read. Call it once. */
  end(graces: Graces): Promise<void>;
}

export async function spawnGroup(launch: ProcessLaunch, { guardian, log, env }: GroupParts): Promise<ProcessGroup> {
  const mark = guardian.newMark();
  const child = start(launch, serverEnvironment(env, launch, mark));
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

  /** Who left the group and lives on, as far as we know. */
  let strays: number[] = [];

  async function isAllGone(): Promise<boolean> {
    if (!isGroupGone(pid)) return false;
    // Looking through all processes is slow: only when the ones we know are gone.
    strays = await findMarked(mark, strays);
    if (strays.length === 0) strays = await findMarked(mark);
    return strays.length === 0;
  }

  /** Sends a signal to whoever is left, and once: many programs take a second one for impatience and drop everything. */
  async function signal(name: NodeJS.Signals): Promise<void> {
    strays = (await findMarked(mark)).filter((stray) => groupOf(stray) !== pid);
    // The number of an empty group may have another owner by now.
    for (const target of isGroupGone(pid) ? strays : [-pid, ...strays]) {
      try {
        process.kill(target, name);
      } catch {
        // Gone, or out of our reach: `isAllGone` sees the same.
      }
    }
  }

  async function goneWithin(ms: number): Promise<boolean> {
    const deadline = performance.now() + ms;
    if ((await within(exited, ms)) === undefined) return false;
    // The system reports only our own child to us. Its descendants have to be asked after.
    for (let pause = 2; !(await isAllGone()); pause = Math.min(2 * pause, 50)) {
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
      await signal('SIGTERM');
      gone = await goneWithin(termMs);
    }
    // More than once: a process may start another one while we look.
    for (let tries = 0; !gone && tries < KILL_TRIES; tries++) {
      await signal('SIGKILL');
      gone = await goneWithin(KILL_TAKES_MS / KILL_TRIES);
    }
    if (!gone) log.warn('a server process was killed and is not gone yet', { server: launch.name, pid });
    // In any case: nothing ends sooner by being killed twice, and the number may get another owner.
    guardian.release(pid);
    // A descendant that we could not find may hold our pipes open: we do not wait for it.
    await within(drained, DRAIN_MS);
    for (const stream of child.stdio) stream?.destroy();
  }

  return { pid, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, exited, end };
}

function start(launch: ProcessLaunch, env: Record<string, string>) {
  try {
    return spawn(launch.command, launch.args, {
      ...(launch.cwd === undefined ? {} : { cwd: launch.cwd }),
      env,
      detached: true,
      stdio: 'pipe',
    });
  } catch (error) {
    throw notSpawned(launch, error);
  }
}
