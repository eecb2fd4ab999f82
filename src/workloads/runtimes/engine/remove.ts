import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../../base/index.ts';
import type { Engine } from './connect.ts';
import { statusOf } from './failures.ts';
import { soon } from './soon.ts';

const TRIES = 8;
const PAUSE = 150;

/** Removes a container with its volumes, whatever state it is in. One that is not there is as good as removed. */
export async function removeContainer({ api }: Pick<Engine, 'api'>, name: string, log: Log): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await soon(api.getContainer(name).remove({ force: true, v: true }));
      return;
    } catch (error) {
      if (statusOf(error) === 404) return;
      // An engine may be busy with its end, or count the server that used its network as there for another moment.
      if (statusOf(error) === undefined || tries === TRIES) {
        log.warn('a container could not be removed', { container: name, error });
        return;
      }
      await sleep(PAUSE * tries);
    }
  }
}
