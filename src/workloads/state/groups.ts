import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { withLock } from '../../base/files/index.ts';
import { SallyError, stateFolder, suggest } from '../../base/index.ts';
import { isGroupName } from '../../resources/index.ts';
import type { Environment } from '../launch.ts';
import { listFolder, written } from './store.ts';
import { formatVersioned } from './versioned.ts';

export const DEFAULT_GROUP = 'default';

/** The groups of this user. `default` is always there and needs no file. */
export interface Groups {
  list(): Promise<readonly string[]>;
  create(name: string): Promise<void>;
  remove(name: string): Promise<void>;
  /** Throws when there is no such group. */
  check(name: string): Promise<void>;
  /** Does something while no other command changes groups, or puts a workload into one. */
  alone<T>(work: () => Promise<T>): Promise<T>;
}

export function createGroups(env: Environment): Groups {
  const home = stateFolder(env);
  const folder = join(home, 'groups');
  const fileOf = (name: string): string => join(folder, `${name}.json`);

  async function list(): Promise<readonly string[]> {
    const files = (await listFolder(folder)).map((entry) => entry.name.replace(/\.json$/, ''));
    return [...new Set([DEFAULT_GROUP, ...files.filter(isGroupName)])].sort();
  }

  async function check(name: string): Promise<void> {
    const groups = await list();
    if (groups.includes(name)) return;
    const close = suggest(name, groups);
    throw new SallyError('group.unknown', `there is no group ${JSON.stringify(name)}`, {
      hint: close ? `did you mean ${close}?` : `make it with: sally group create ${isGroupName(name) ? name : 'NAME'}`,
    });
  }

  return {
    list,
    check,
    alone: (work) => withLock(join(home, 'locks', 'groups'), work),
    async create(name) {
      if (!isGroupName(name)) {
        throw new SallyError('usage.invalid', `${JSON.stringify(name.slice(0, 80))} cannot name a group`, {
          hint: 'use up to 63 lowercase letters, digits, dashes and underscores, with a letter or digit at both ends',
        });
      }
      if ((await list()).includes(name)) throw new SallyError('group.exists', `there is a group ${name} already`);
      await written(fileOf(name), formatVersioned(1, { name }));
    },
    async remove(name) {
      await check(name);
      if (name === DEFAULT_GROUP) throw new SallyError('group.exists', 'the group default is always there');
      await rm(fileOf(name), { force: true });
    },
  };
}
