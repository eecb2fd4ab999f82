import type { Dirent } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

const EXTENSIONS = ['.yaml', '.yml', '.json'];
/** Sub-folders deeper than this are a loop of links, not somebody's order. */
const MAX_DEPTH = 16;

/** A file or a folder that is there, as it was named. */
export interface Found {
  readonly path: string;
  readonly size: number;
  readonly modified: number;
}

/**
 * The resource files at a path: the file itself, or those of the folder and then of its sub-folders, each in the order of
 * their names. Hidden files are left out (editors and ConfigMap mounts keep their own things there), `node_modules` too.
 * Stops after `limit` files. Throws what the file system throws when the path itself is not there.
 */
export async function listFiles(path: string, limit: number): Promise<Found[]> {
  const found: Found[] = [];
  const top = await stat(path);
  if (top.isDirectory()) await addFolder(path, found, limit, 0);
  else found.push({ path, size: top.size, modified: top.mtimeMs });
  return found;
}

async function addFolder(folder: string, found: Found[], limit: number, depth: number): Promise<void> {
  if (depth > MAX_DEPTH) return;
  const entries = (await readdir(folder, { withFileTypes: true })).filter(isOurs).sort(byName);
  const folders: string[] = [];
  for (const entry of entries) {
    if (found.length >= limit) return;
    const path = join(folder, entry.name);
    // Mounted ConfigMaps are links, so what counts is what a link leads to; one that leads nowhere is not there.
    const target = await stat(path).catch(() => undefined);
    if (target?.isDirectory()) folders.push(path);
    else if (target?.isFile() && EXTENSIONS.some((extension) => entry.name.toLowerCase().endsWith(extension))) {
      found.push({ path, size: target.size, modified: target.mtimeMs });
    }
  }
  for (const sub of folders) await addFolder(sub, found, limit, depth + 1);
}

/** As people write it: relative to where they are when the file is below, else in full. */
export function displayName(path: string): string {
  const below = relative(process.cwd(), path);
  return below === '' || below === '..' || below.startsWith(`..${sep}`) ? path : below;
}

function isOurs(entry: Dirent): boolean {
  return !entry.name.startsWith('.') && entry.name !== 'node_modules';
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
