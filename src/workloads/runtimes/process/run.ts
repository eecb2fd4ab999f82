import { type SallyError, Secret } from '../../../base/index.ts';
import type { Launch } from '../../launch.ts';
import { closed, exited, lineTooLong, notReading } from './failures.ts';
import { createLastWords } from './last-words.ts';
import type { Limits } from './limits.ts';
import { createLineReader } from './lines.ts';
import { type GroupParts, spawnGroup } from './spawn-group.ts';

export interface RunParts extends GroupParts {
  readonly limits: Limits;
  readonly onLine: (line: string) => void;
}

/** One life of a server process, from its spawn to the last byte of its output. */
export interface Run {
  readonly pid: number;
  /** Writes one line to its stdin. After the end it does nothing: `ended` has told whoever waits for an answer. */
  send(line: string): void;
  lastLines(): readonly string[];
  /** Asks it to end, and makes it end when it does not. */
  stop(): void;
  /** Why it ended. By then nothing of it is left. Never rejects. */
  readonly ended: Promise<SallyError>;
}

export async function startRun(launch: Launch, parts: RunParts): Promise<Run> {
  const { limits, log } = parts;
  const group = await spawnGroup(launch, parts);
  const secrets = Object.values(launch.env).filter((value) => value instanceof Secret);
  const words = createLastWords({ server: launch.name, log, secrets: secrets.map((secret) => secret.reveal()) });
  /** Why we end it, when it does not end by itself. */
  const verdict = Promise.withResolvers<SallyError>();
  let asked = false;

  const lines = createLineReader({
    limit: limits.lineBytes,
    // An empty line is no message, and no harm either.
    onLine: (line) => line !== '' && parts.onLine(line),
    onOverflow: () => verdict.resolve(lineTooLong(launch.name, limits.lineBytes)),
  });
  group.stdout.on('data', lines.push);
  group.stderr.on('data', words.hear);

  function send(line: string): void {
    const { stdin } = group;
    if (!stdin.writable) return;
    if (stdin.writableLength + line.length > limits.unreadBytes) {
      verdict.resolve(notReading(launch.name, limits.unreadBytes));
      return;
    }
    stdin.write(`${line}\n`);
  }

  async function untilGone(): Promise<SallyError> {
    const reason = await Promise.race([verdict.promise, group.exited]);
    // Only a stop that was asked for starts with the polite end of its input.
    await group.end({ stdinMs: asked ? limits.stdinGraceMs : 0, termMs: limits.termGraceMs });
    // A last line on stdout without its newline was cut off and is dropped; on stderr it may be the one that explains.
    words.finish();
    return reason instanceof Error ? reason : exited(launch.name, reason, words.lines());
  }

  return {
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
