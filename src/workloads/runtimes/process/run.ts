import type { SallyError } from '../../../base/index.ts';
import type { ProcessLaunch } from '../../launch.ts';
import type { Life } from '../keep-running.ts';
import { openWays } from './confine/ways.ts';
import { closed, exited, lineTooLong, notReading, stdoutClosed } from './failures.ts';
import { createLastWords } from './last-words.ts';
import type { Limits } from './limits.ts';
import { createLineReader } from './lines.ts';
import type { Mask } from './mask.ts';
import { sendLine } from './send-line.ts';
import { type GroupParts, spawnGroup } from './spawn-group.ts';
import { within } from './within.ts';

/** A process that ends closes its stdout a little earlier. Its exit code says more than that, so we wait for it. */
const EXIT_FOLLOWS_MS = 500;

export interface RunParts extends GroupParts {
  readonly limits: Limits;
  readonly mask: Mask;
  /** `messages` stand on stdout line by line; when they cannot come any more the run is over. `free` text may end or not. */
  readonly stdout: 'messages' | 'free';
  readonly onLine: (line: string) => void;
  readonly onWords?: ((line: string) => void) | undefined;
}

export async function startRun(launch: ProcessLaunch, parts: RunParts): Promise<Life> {
  const { limits, log, mask } = parts;
  const group = await spawnGroup(launch, parts);
  const ways = group.relay && launch.confinement ? openWays(launch, group.relay, log) : undefined;
  const words = createLastWords({ server: launch.name, log, mask, hear: parts.onWords });
  /** Why we end it, when it does not end by itself. */
  const verdict = Promise.withResolvers<SallyError>();
  let asked = false;

  const lines = createLineReader({
    limit: limits.lineBytes,
    // An empty line is no message, and no harm either.
    onLine: (line) => line !== '' && parts.onLine(line),
    onOverflow() {
      if (parts.stdout === 'messages') verdict.resolve(lineTooLong(launch.name, limits.lineBytes));
    },
  });
  group.stdout.on('data', lines.push);
  group.stderr.on('data', words.hear);
  if (parts.stdout === 'messages') group.stdout.once('end', () => void noticeSilence());

  async function noticeSilence(): Promise<void> {
    if ((await within(group.exited, EXIT_FOLLOWS_MS)) === undefined) {
      verdict.resolve(stdoutClosed(launch.name, words.lines()));
    }
  }

  function send(line: string): void {
    const isRead = sendLine(group.stdin, line, limits.unreadBytes);
    if (!isRead) verdict.resolve(notReading(launch.name, limits.unreadBytes));
  }

  async function untilGone(): Promise<SallyError> {
    const reason = await Promise.race([verdict.promise, group.exited]);
    // Only a stop that was asked for starts with the polite end of its input.
    await group.end({ stdinMs: asked ? limits.stdinGraceMs : 0, termMs: limits.termGraceMs });
    // A last line on stdout without its newline was cut off and is dropped; on stderr it may be the one that explains.
    words.finish();
    await ways?.close();
    return reason instanceof Error ? reason : exited(launch.name, reason, words.lines());
  }

  return {
    where: { pid: group.pid },
    pid: group.pid,
    send,
    lastLines: words.lines,
    stop() {
      asked = true;
      verdict.resolve(closed(launch.name));
    },
    ended: untilGone(),
  };
}
