import { setTimeout as sleep } from 'node:timers/promises';
import { type Log, type SallyError, toSallyError } from '../../base/index.ts';
import { closed } from './process/failures.ts';
import { DEFAULT_LIMITS, type Limits, pauseAfter } from './process/limits.ts';
import type { Mask } from './process/mask.ts';

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

/** One life of a server, from its start to the last byte of its output. */
export interface Life {
  /** What names it in the log: a process number, or a container. */
  readonly where: Readonly<Record<string, string | number>>;
  readonly pid?: number;
  /** Writes one line to its stdin. After the end it does nothing: `ended` has told whoever waits for an answer. */
  send(line: string): void;
  lastLines(): readonly string[];
  /** Asks it to end, and makes it end when it does not. */
  stop(): void;
  /** Why it ended. By then nothing of it is left. Never rejects. */
  readonly ended: Promise<SallyError>;
}

export interface KeepParts {
  readonly listener: ProcessListener;
  readonly log: Log;
  readonly mask: Mask;
  readonly limits?: Partial<Limits> | undefined;
  /** Milliseconds that only ever grow. */
  readonly clock?: (() => number) | undefined;
  readonly random?: (() => number) | undefined;
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

/** Keeps a server running, whatever runs it: started at once, restarted with growing pauses when it ends, given up when it keeps ending. */
export function keepRunning(server: string, startLife: () => Promise<Life>, parts: KeepParts): SupervisedProcess {
  const { listener, log, mask, clock = () => performance.now(), random = Math.random } = parts;
  const limits: Limits = { ...DEFAULT_LIMITS, ...parts.limits };
  const closing = new AbortController();
  let state: ReturnType<SupervisedProcess['state']> = 'starting';
  let current: Life | undefined;
  let running = false;

  async function liveOnce(): Promise<SallyError> {
    try {
      current = await startLife();
    } catch (error) {
      return toSallyError(error);
    }
    running = true;
    if (closing.signal.aborted) {
      current.stop();
    } else {
      state = 'running';
      log.info('server started', { server, ...current.where });
      listener.started(current.send, mask.hide);
    }
    const error = await current.ended;
    running = false;
    return error;
  }

  async function untilClosed(): Promise<void> {
    // The caller gets its SupervisedProcess before it hears of the first process.
    await Promise.resolve();
    let failures = 0;
    while (!closing.signal.aborted) {
      const began = clock();
      const error = await liveOnce();
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

  const done = untilClosed();

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
