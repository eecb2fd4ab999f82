import type { Log } from '../../../base/index.ts';
import type { Environment, ProcessLaunch } from '../../launch.ts';
import { keepRunning, type ProcessListener, type SupervisedProcess } from '../keep-running.ts';
import { secretsOf } from './environment.ts';
import { unsupportedPlatform } from './failures.ts';
import type { Guardian } from './guardian.ts';
import { DEFAULT_LIMITS, type Limits } from './limits.ts';
import { createMask } from './mask.ts';
import { startRun } from './run.ts';

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

/** Keeps a server process running: started at once, restarted with growing pauses when it ends, given up when it keeps ending. */
export function superviseProcess(launch: ProcessLaunch, parts: SuperviseParts): SupervisedProcess {
  if (process.platform === 'win32') throw unsupportedPlatform(launch.name);
  const { listener, guardian, log, stdout = 'messages', env = process.env, onWords } = parts;
  const limits: Limits = { ...DEFAULT_LIMITS, ...parts.limits };
  const mask = createMask(secretsOf(env, launch));
  const onLine = listener.line.bind(listener);
  const start = () => startRun(launch, { guardian, log, env, limits, mask, stdout, onLine, onWords });
  return keepRunning(launch.name, start, { ...parts, limits, mask });
}
