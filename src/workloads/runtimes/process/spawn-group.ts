import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Duplex, Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../base/index.ts';
import type { Environment, ProcessLaunch } from '../../launch.ts';
import { FIRST_FD, type Start, startOf } from './confine/start.ts';
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
  /** The pipe to our relay, where the server is confined and there is one. */
  readonly relay: Duplex | undefined;
  /** The first process is gone; others of its group may still run. */
  readonly exited: Promise<Exit>;
  /** Ends stdin, then sends SIGTERM, then SIGKILL. Resolves when nothing is left and its output was read. Call it once. */
  end(graces: Graces): Promise<void>;
}

export async function spawnGroup(launch: ProcessLaunch, { guardian, log, env }: GroupParts): Promise<ProcessGroup> {
  const mark = guardian.newMark();
  const how = startOf(launch, serverEnvironment(env, launch, mark));
  const child = start(how);
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
    throw notSpawned(how, error);
  }
  // Never guessed: a signal to group 0 would reach ourselves.
  if (child.pid === undefined) throw notSpawned(how, undefined);
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
    const marked = await findMarked(mark);
    strays = marked.filter((stray) => groupOf(stray) !== pid);
    if (how.isWrapped && name !== 'SIGKILL') return signalInside(marked, name);
    // The number of an empty group may have another owner by now.
    for (const target of isGroupGone(pid) ? strays : [-pid, ...strays]) {
      try {
        process.kill(target, name);
      } catch {
        // Gone, or out of our reach: `isAllGone` sees the same.
      }
    }
  }

  /** What builds the walls takes everything with it when it ends, so it is left out as long as there is time to end in peace. */
  function signalInside(marked: readonly number[], name: NodeJS.Signals): void {
    for (const target of marked) {
      try {
        if (target !== pid) process.kill(target, name);
      } catch {
        // Gone in the meantime.
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

  const relay = how.relayFd === undefined ? undefined : (child.stdio[how.relayFd] as Duplex | undefined);
  return { pid, stdin: child.stdin, stdout: child.stdout, stderr: child.stderr, relay, exited, end };
}

function start(how: Start): ChildProcessWithoutNullStreams {
  const { command, args, cwd, env, files, relayFd } = how;
  const further = Array.from({ length: files.length + (relayFd === undefined ? 0 : 1) }, () => 'pipe' as const);
  try {
    const child = spawn(command, args, {
      ...(cwd === undefined ? {} : { cwd }),
      env,
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...further],
    }) as ChildProcessWithoutNullStreams;
    for (const [index, text] of files.entries()) (child.stdio[FIRST_FD + index] as Writable | undefined)?.end(text);
    return child;
  } catch (error) {
    throw notSpawned(how, error);
  }
}
