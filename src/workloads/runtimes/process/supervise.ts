import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, type SallyError, toSallyError } from '../../../base/index.ts';
import type { Environment, Launch } from '../../launch.ts';
import { secretsOf } from './environment.ts';
import { closed, unsupportedPlatform } from './failures.ts';
import type { Guardian } from './guardian.ts';
import { DEFAULT_LIMITS, type Limits, pauseAfter } from './limits.ts';
import { createMask } from './mask.ts';
import { type Run, startRun } from './run.ts';

/** What hears of a supervised process. Its functions must not throw. */
export interface ProcessListener {
  /**
   * A process runs; `send` writes one line to its stdin (newline added). Called again after each restart.
   * Whatever of its lines is shown to anybody goes through `mask` first: it hides the secrets the server was given. Cut a long
   * line with `length` or after the mask, never before: half a secret is not recognised.
   */
  started(send: (line: string) => void, mask: (text: string, length?: number) => string): void;
  /** One line of its stdout as it came, byte for byte and with any secret in it. Never an empty one. */
  line(line: string): void;
  /**
   * This process is gone, or could not be started. `final` when it will not be started again: that is the last call, and
   * it comes however the end came about, by `close` too (the code is then `listener.draining`).
   */
  stopped(error: SallyError, final: boolean): void;
}

export interface SuperviseParts {
  readonly listener: ProcessListener;
  readonly guardian: Guardian;
  readonly log: Log;
  readonly limits?: Partial<Limits>;
  /**
   * `messages`, unless said otherwise: a server that closes its stdout or writes a line without end is of no use and is
   * started again. `free` for a server that answers elsewhere, over HTTP, and does with its stdout what it likes.
   */
  readonly stdout?: 'messages' | 'free';
  /** Milliseconds that only ever grow. */
  readonly clock?: () => number;
  readonly random?: () => number;
  /** Our own environment; a server sees little of it. */
  readonly env?: Environment;
  /** Hears what the server says on stderr, line by line and with its secrets masked. */
  readonly onWords?: ((line: string) => void) | undefined;
}

export interface SupervisedProcess extends AsyncDisposable {
  readonly name: string;
  state(): 'starting' | 'running' | 'waiting' | 'failed' | 'stopped';
  pid(): number | undefined;
  /** What it said last on stderr. */
  lastLines(): readonly string[];
  /** Resolves when the process and everything it started are gone. */
  close(): Promise<void>;
}

/** Keeps a server process running: started at once, restarted with growing pauses when it ends, given up when it keeps ending. */
export function superviseProcess(launch: Launch, parts: SuperviseParts): SupervisedProcess {
  if (process.platform === 'win32') throw unsupportedPlatform(launch.name);
  const { listener, guardian, log, clock = () => performance.now(), random = Math.random, env = process.env } = parts;
  const limits: Limits = { ...DEFAULT_LIMITS, ...parts.limits };
  const mask = createMask(secretsOf(env, launch));
  const onLine = listener.line.bind(listener);
  const { stdout = 'messages' } = parts;
  const server = launch.name;
  const closing = new AbortController();
  let state: ReturnType<SupervisedProcess['state']> = 'starting';
  let current: Run | undefined;
  let running = false;

  async function runOnce(): Promise<SallyError> {
    try {
      current = await startRun(launch, { guardian, log, env, limits, mask, stdout, onLine, onWords: parts.onWords });
    } catch (error) {
      return toSallyError(error);
    }
    running = true;
    if (closing.signal.aborted) {
      current.stop();
    } else {
      state = 'running';
      log.info('server started', { server, pid: current.pid });
      listener.started(current.send, mask.hide);
    }
    const error = await current.ended;
    running = false;
    return error;
  }

  async function keepRunning(): Promise<void> {
    // The caller gets its SupervisedProcess before it hears of the first process.
    await Promise.resolve();
    let failures = 0;
    while (!closing.signal.aborted) {
      const began = clock();
      const error = await runOnce();
      if (closing.signal.aborted) break;
      const ms = Math.round(clock() - began);
      failures = ms >= limits.stableAfterMs ? 1 : failures + 1;
      if (failures > limits.restarts) {
        state = 'failed';
        log.error('server ended and is given up', { server, ms, failures, error });
        listener.stopped(error, true);
        return;
      }
      state = 'waiting';
      const pauseMs = Math.round(pauseAfter(failures, limits, random));
      log.warn('server ended and is started again', { server, ms, failures, pauseMs, error });
      listener.stopped(error, false);
      // Only `close` ends the pause early, and the loop sees it.
      await sleep(pauseMs, undefined, { signal: closing.signal }).catch(() => {});
    }
    state = 'stopped';
    log.info('server stopped', { server });
    listener.stopped(closed(server), true);
  }

  const done = keepRunning();

  async function close(): Promise<void> {
    closing.abort();
    current?.stop();
    await done;
    state = 'stopped';
  }

  return {
    name: server,
    state: () => state,
    pid: () => (running ? current?.pid : undefined),
    lastLines: () => current?.lastLines() ?? [],
    close,
    [Symbol.asyncDispose]: close,
  };
}
