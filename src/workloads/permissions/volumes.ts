import { stat } from 'node:fs/promises';
import { isAbsolute, posix, resolve } from 'node:path';
import { SallyError } from '../../base/index.ts';
import type { PermissionProfile } from '../../resources/index.ts';

/** A folder or file of this machine, and where the server sees it. */
export interface Volume {
  readonly source: string;
  readonly target: string;
  readonly readOnly: boolean;
}

/** What the kernel puts there is not to be covered. */
const OF_THE_KERNEL = /^\/(proc|sys|dev)(\/|$)/;

/** `SOURCE:TARGET[:ro|:rw]`, or one path for both sides. `from` is where a relative source counts from. */
export function parseVolume(text: string, from: string): Volume {
  const parts = text.split(':');
  const mode = parts.length > 1 && /^(ro|rw)$/.test(parts.at(-1) ?? '') ? parts.pop() : undefined;
  const [source = '', target = source] = parts;
  if (parts.length > 2 || source === '' || /\p{Cc}/u.test(text)) throw wrong(text, 'it is not SOURCE:TARGET[:ro]');
  if (!isAbsolute(target)) throw wrong(text, `${target} is no absolute path`);
  const inside = posix.normalize(target).replace(/(.)\/+$/, '$1');
  if (inside === '/' || OF_THE_KERNEL.test(inside)) throw wrong(text, `${inside} cannot be covered`);
  return { source: resolve(from, source), target: inside, readOnly: mode === 'ro' };
}

/** All that a profile and `-v` name. Two things cannot be in one place, and what is not there is not mounted. */
export async function volumesOf(
  profile: PermissionProfile,
  volumes: readonly string[],
  from: string,
): Promise<readonly Volume[]> {
  const all = [
    ...profile.read.map((text) => ({ ...parseVolume(text, from), readOnly: true })),
    ...profile.write.map((text) => parseVolume(text, from)),
    ...volumes.map((text) => parseVolume(text, from)),
  ];
  const taken = new Map<string, Volume>();
  for (const volume of all) {
    const other = taken.get(volume.target);
    if (other) throw wrong(volume.source, `${volume.target} is the place of ${other.source} already`);
    taken.set(volume.target, volume);
    const there = await stat(volume.source).catch(() => undefined);
    if (!there) throw wrong(volume.source, 'there is nothing on this machine');
    if (!there.isFile() && !there.isDirectory() && !there.isSocket())
      throw wrong(volume.source, 'it is no file or folder');
  }
  return all;
}

function wrong(text: string, why: string): SallyError {
  return new SallyError('usage.invalid', `${JSON.stringify(text)} cannot be mounted: ${why}`, {
    hint: 'write -v SOURCE:TARGET or -v SOURCE:TARGET:ro, with a file or folder of this machine as the source',
  });
}
