import { SallyError } from '../../base/index.ts';
import { DEFAULT_GROUP, type WorkloadStore } from '../../workloads/index.ts';
import type { LifecycleParts } from './parts.ts';
import { forEach, membersOf } from './select.ts';
import { remove } from './stop.ts';

export interface GroupView {
  readonly name: string;
  readonly workloads: readonly string[];
}

type Parts = Pick<LifecycleParts, 'store' | 'groups' | 'secrets' | 'log'>;

export async function listGroups({ store, groups }: Parts): Promise<readonly GroupView[]> {
  const names = await groups.list();
  return await Promise.all(names.map(async (name) => ({ name, workloads: await membersOf(name, store) })));
}

export async function createGroup(name: string, { groups }: Parts): Promise<void> {
  await groups.alone(() => groups.create(name));
}

/** Removes a group, and gives the workloads that were in it. They go with it or into the default group; one has to be said. */
export async function removeGroup(
  name: string,
  workloads: 'remove' | 'keep' | undefined,
  parts: Parts,
): Promise<readonly string[]> {
  const { store, groups } = parts;
  const members = await membersOf(name, store);
  if (members.length > 0 && name !== DEFAULT_GROUP && workloads === undefined) {
    throw new SallyError('usage.invalid', `there are workloads in ${name}: ${members.join(', ')}`, {
      hint: 'remove them too with --with-workloads, or move them to the default group with --keep-workloads',
    });
  }
  // Gone first, so that nobody comes in while the others are led out.
  await groups.alone(() => groups.remove(name));
  const left = await membersOf(name, store);
  await forEach(left, async (member) => {
    if (workloads === 'remove') await remove(member, parts);
    else await moveToDefault(member, store);
  });
  return left;
}

async function moveToDefault(name: string, store: WorkloadStore): Promise<void> {
  await store.alone(name, async () => {
    const record = await store.read(name);
    if (record) await store.write(name, { ...record, config: { ...record.config, group: DEFAULT_GROUP } });
  });
}
