import { setTimeout as sleep } from 'node:timers/promises';
import type { Container } from 'dockerode';
import type { SallyError } from '../../../base/index.ts';
import type { ContainerLaunch } from '../../launch.ts';
import type { Life } from '../keep-running.ts';
import { closed, lineTooLong, notReading, stdoutClosed } from '../process/failures.ts';
import { createLastWords } from '../process/last-words.ts';
import type { Limits } from '../process/limits.ts';
import { createLineReader } from '../process/lines.ts';
import type { Mask } from '../process/mask.ts';
import { sendLine } from '../process/send-line.ts';
import { within } from '../process/within.ts';
import { attach } from './attach.ts';
import { containerExited, containerRemoved, engineLost, refusedByEngine, relayFailed, statusOf } from './failures.ts';
import { clearAway } from './remove.ts';
import { openSandbox, type SandboxParts } from './sandbox.ts';
import { needsRelay, serverSettings } from './settings.ts';
import { soon } from './soon.ts';

/** A container that ends closes its stdout earlier, seconds on a busy machine. Its exit code says more than that, so we wait for it. */
const EXIT_FOLLOWS_STDOUT_MS = 5_000;
/** Without its relay a server that lives on is of no use: less patience. */
const EXIT_FOLLOWS_RELAY_MS = 1_000;
/** Output that is still on its way when the container is gone. */
const DRAIN_MS = 500;

export interface LifeParts extends SandboxParts {
  readonly limits: Limits;
  readonly mask: Mask;
  readonly readOnly: boolean;
  readonly onLine: (line: string) => void;
  readonly onWords?: ((line: string) => void) | undefined;
}

/** One life of a server in a container: made, started, and removed with everything around it. */
export async function startContainer(launch: ContainerLaunch, parts: LifeParts): Promise<Life> {
  const { engine, guardian, limits, log, mask } = parts;
  const isStdio = launch.listens === undefined;
  const words = createLastWords({ server: launch.name, log, mask, hear: parts.onWords });
  /** Why we end it, when it does not end by itself. */
  const verdict = Promise.withResolvers<SallyError>();
  let asked = false;
  const lines = createLineReader({
    limit: limits.lineBytes,
    onLine: (line) => line !== '' && parts.onLine(line),
    onOverflow() {
      if (isStdio) verdict.resolve(lineTooLong(launch.name, limits.lineBytes));
    },
  });

  const sandbox = needsRelay(launch) ? await openSandbox(launch, parts).catch(rephrase) : undefined;
  const settings = serverSettings(launch, { readOnly: parts.readOnly, relay: sandbox?.id }, parts);
  const name = settings.name ?? '';
  guardian.watch(name);
  const { container, pipes } = await start().catch(async (error: unknown) => {
    await remove();
    throw refusedByEngine(launch.name, error);
  });

  async function start() {
    const made = await soon(engine.api.createContainer(settings));
    const pipes = await attach(made, engine.address, { stdout: lines.push, stderr: words.hear });
    await sandbox?.ready;
    await soon(made.start());
    return { container: made, pipes };
  }

  async function remove(): Promise<void> {
    await clearAway(name, parts);
    await sandbox?.close();
  }

  function rephrase(error: unknown): never {
    throw refusedByEngine(launch.name, error);
  }

  const exited = untilExit(container, launch.name, words.lines);
  void sandbox?.ended.then(() => unlessExited(EXIT_FOLLOWS_RELAY_MS, () => relayFailed(launch.name, '')));
  if (isStdio)
    void pipes.ended.then(() => unlessExited(EXIT_FOLLOWS_STDOUT_MS, () => stdoutClosed(launch.name, words.lines())));

  /** The same event may end the container, or the engine: that says more. */
  async function unlessExited(ms: number, reason: () => SallyError): Promise<void> {
    if ((await within(exited, ms)) === undefined) verdict.resolve(reason());
  }

  function send(line: string): void {
    const isRead = sendLine(pipes.stdin, line, limits.unreadBytes);
    if (!isRead) verdict.resolve(notReading(launch.name, limits.unreadBytes));
  }

  async function untilGone(): Promise<SallyError> {
    const reason = await Promise.race([verdict.promise, exited]);
    if (asked && isStdio) {
      // Only a stop that was asked for starts with the polite end of its input.
      pipes.stdin.end();
      await within(exited, limits.stdinGraceMs);
    }
    if (asked) {
      const stopping = container.stop({ t: Math.ceil(limits.termGraceMs / 1_000) }).catch(() => {}); // gone already
      await Promise.race([stopping, sleep(limits.termGraceMs + 3_000, undefined, { ref: false })]);
    }
    await within(pipes.ended, DRAIN_MS);
    pipes.stdin.destroy();
    await remove();
    // A last line on stdout without its newline was cut off and is dropped; on stderr it may be the one that explains.
    words.finish();
    // The exit was heard before the last words were.
    return typeof reason === 'function' ? reason() : reason;
  }

  return {
    where: { container: name },
    send,
    lastLines: words.lines,
    stop() {
      asked = true;
      verdict.resolve(closed(launch.name));
    },
    ended: untilGone(),
  };
}

/** Waits at the engine, which tells when the container ends; nobody polls. The reason is told once the last words are in. */
async function untilExit(
  container: Container,
  name: string,
  lines: () => readonly string[],
): Promise<() => SallyError> {
  try {
    const { StatusCode } = (await container.wait()) as { StatusCode: number };
    const state = await container.inspect().then(
      ({ State }) => State,
      () => undefined,
    );
    return () => containerExited(name, { code: StatusCode, outOfMemory: state?.OOMKilled ?? false }, lines());
  } catch (error) {
    return () => (statusOf(error) === 404 ? containerRemoved(name) : engineLost(name, error));
  }
}
