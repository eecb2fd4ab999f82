import { readFile } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import type { Plugin } from 'esbuild';

/** What a door hands out: each name, with the file that makes it and its name there. */
type Door = ReadonlyMap<string, { readonly file: string; readonly name: string }>;
type DoorAt = (path: string) => Promise<Door>;

const THROUGH_A_DOOR = /^(import|export) \{([^}]*)\} from '(\.[^']*\/index\.ts)';/gm;
const HANDED_OUT = /^export \{([^}]*)\} from '([^']+)';/gm;

/**
 * Leads each import through a door on to the file behind it. In the sources a folder is entered through its `index.ts`; in the build a
 * program would load all that is behind a door for the one thing that it uses (docs/decisions/0032-starts.md).
 */
export const throughDoors: Plugin = {
  name: 'through-doors',
  setup({ onLoad }) {
    const doors = new Map<string, Promise<Door>>();
    const doorAt: DoorAt = (path) => {
      const door = doors.get(path) ?? readDoor(path, doorAt);
      doors.set(path, door);
      return door;
    };
    onLoad({ filter: /\.ts$/ }, async ({ path }) => ({
      contents: await pastDoors(await readFile(path, 'utf8'), path, doorAt),
      loader: 'ts',
    }));
  },
};

async function readDoor(path: string, doorAt: DoorAt): Promise<Door> {
  const door = new Map<string, { file: string; name: string }>();
  for (const [, names = '', from = ''] of (await readFile(path, 'utf8')).matchAll(HANDED_OUT)) {
    const file = resolve(dirname(path), from);
    const next = basename(file) === 'index.ts' ? await doorAt(file) : undefined;
    for (const { name, as } of namesIn(names)) door.set(as, next?.get(name) ?? { file, name });
  }
  return door;
}

/** The same text with straight imports. Lines stay where they are, so that stack traces stay right. */
export async function pastDoors(text: string, path: string, doorAt: DoorAt): Promise<string> {
  const here = dirname(path);
  let straight = '';
  let end = 0;
  for (const match of text.matchAll(THROUGH_A_DOOR)) {
    const [statement, word, names = '', from = ''] = match;
    const index = resolve(here, from);
    const door = await doorAt(index);
    const statements = namesIn(names).map(({ name, as }) => {
      const behind = door.get(name) ?? { file: index, name }; // some doors make what they hand out
      return `${word} { ${behind.name} as ${as} } from './${relative(here, behind.file)}';`;
    });
    straight += text.slice(end, match.index) + statements.join(' ') + statement.replaceAll(/[^\n]/g, '');
    end = match.index + statement.length;
  }
  return straight + text.slice(end);
}

/** Types are nothing to load. */
function namesIn(list: string): readonly { readonly name: string; readonly as: string }[] {
  const items = list.split(',').map((item) => item.trim());
  return items
    .filter((item) => item !== '' && !item.startsWith('type '))
    .map((item) => {
      const [name = '', as = name] = item.split(' as ');
      return { name, as };
    });
}
