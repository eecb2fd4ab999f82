import { type SallyError, toSallyError } from '../../../base/index.ts';
import type { ContainerLaunch } from '../../launch.ts';
import type { Life } from '../keep-running.ts';
import { needsToWrite } from './failures.ts';
import { type LifeParts, startContainer } from './life.ts';

/**
 * A life that begins with the files of its image read-only. A server that ends over that before it has answered anything gets
 * another container at once, in which it may write, and what it was told is told again: nobody notices but the log.
 */
export async function startTolerant(
  launch: ContainerLaunch,
  parts: Omit<LifeParts, 'readOnly'>,
  onTolerated: () => void,
): Promise<Life> {
  const isStdio = launch.listens === undefined;
  let hasAnswered = false;
  let told: string[] = [];
  let isStopped = false;
  let current = await startContainer(launch, {
    ...parts,
    readOnly: true,
    onLine(line) {
      hasAnswered = isStdio;
      told = [];
      parts.onLine(line);
    },
  });
  const { where, ended } = current;

  async function untilEnded(): Promise<SallyError> {
    const error = await ended;
    if (isStopped || hasAnswered || !needsToWrite(current.lastLines())) return error;
    onTolerated();
    try {
      current = await startContainer(launch, { ...parts, readOnly: false });
    } catch (thrown) {
      return toSallyError(thrown);
    }
    if (isStopped) current.stop();
    for (const line of told) current.send(line);
    return await current.ended;
  }

  return {
    where,
    send(line) {
      if (isStdio && !hasAnswered) told.push(line);
      current.send(line);
    },
    lastLines: () => current.lastLines(),
    stop() {
      isStopped = true;
      current.stop();
    },
    ended: untilEnded(),
  };
}
