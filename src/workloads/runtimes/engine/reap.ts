import type { Log } from '../../../base/index.ts';
import type { Environment } from '../../launch.ts';
import type { Engine } from './connect.ts';
import { hasOwner, homeOf, LABEL } from './labels.ts';
import { soon } from './soon.ts';

/**
 * Removes what a killed `sally` of this home left behind, where its guardian could not. Only containers with our label count, and
 * of those only the ones whose owner is gone.
 */
export async function reap({ api }: Pick<Engine, 'api'>, env: Environment, log: Log): Promise<void> {
  const filters = { label: [`${LABEL.home}=${homeOf(env)}`] };
  const found = await soon(api.listContainers({ all: true, filters }));
  const orphans = found.filter(({ Labels }) => !hasOwner(Labels));
  const isRelay = (labels: Readonly<Record<string, string>>): number => Number(labels[LABEL.role] === 'relay');
  // A relay last: Podman keeps it as long as there is a server in its network.
  for (const { Id, Labels } of orphans.sort((one, two) => isRelay(one.Labels) - isRelay(two.Labels))) {
    await api
      .getContainer(Id)
      .remove({ force: true, v: true })
      .then(
        () => log.info('removed a container that had lost its owner', { workload: Labels[LABEL.workload] }),
        () => {}, // another command was faster
      );
  }
}
