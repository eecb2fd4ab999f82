import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../base/index.ts';
import type { Engine } from './connect.ts';
import { statusOf } from './failures.ts';
import type { ContainerGuardian } from './guardian.ts';
import { soon } from './soon.ts';

const TRIES = 8;
const PAUSE = 150;

export interface ClearParts {
  readonly engine: Engine;
  readonly guardian: ContainerGuardian;
  readonly log: Log;
  /** Containers of earlier lives that are still there, because their engine was not. */
  readonly left: Set<string>;
}

/** Removes a container of ours. What an engine that is gone cannot remove stays with the guardian, and goes before the next life. */
export async function clearAway(name: string, { engine, guardian, log, left }: ClearParts): Promise<void> {
  if (await removeContainer(engine, name, log)) {
    left.delete(name);
    guardian.release(name);
  } else left.add(name);
}

/** With its volumes, whatever state it is in. One that is not there is as good as removed. */
async function removeContainer({ api }: Pick<Engine, 'api'>, name: string, log: Log): Promise<boolean> {
  for (let tries = 1; ; tries++) {
    try {
      await soon(api.getContainer(name).remove({ force: true, v: true }));
      return true;
    } catch (error) {
      if (statusOf(error) === 404) return true;
      // An engine may be busy with its end, or count the server that used its network as there for another moment.
      if (statusOf(error) === undefined || tries === TRIES) {
        log.warn('a container could not be removed', { container: name, error });
        return false;
      }
      await sleep(PAUSE * tries);
    }
  }
}
