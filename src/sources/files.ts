import { type BigIntStats, constants, type Dirent } from 'node:fs';
import { open, readdir, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';
import { codeOf } from '../base/index.ts';

const EXTENSIONS = ['.yaml', '.yml', '.json'];
const MAX_FOLDERS = 1_000;
/** More than anybody writes by hand, and little enough to be read whole. */
const MAX_BYTES = 1024 * 1024;

/** A file that is there, as it was named. */
export interface Found {
  readonly path: string;
  /** It is the path that was asked for, and did not just lie in a folder. */
  readonly named: boolean;
  /** Differs when the content may differ, or who may read it: which file it is, its size, its times. */
  readonly stamp: string;
}

/** What keeps us from reading something. `why` continues the sentence that starts with the path. */
export interface Fault {
  readonly path: string;
  readonly why: string;
}

export interface Listing {
  readonly files: readonly Found[];
  readonly faults: readonly Fault[];
}

interface Walk {
  readonly files: Found[];
  readonly faults: Fault[];
  /** Links can lead back up, and then there is no end: a folder is known by what it is, not by its name. */
  readonly visited: Set<string>;
  readonly limit: number;
}

/**
 * The resource files at a path: the file itself, or those of the folder and then of its sub-folders, each in the order of
 * their names. Hidden files are left out (editors and ConfigMap mounts keep their own things there), `node_modules` too.
 * A folder that several links lead to counts once. Stops after `limit` files. Throws what the file system throws when the
 * path itself cannot be read; what is wrong below it is a fault.
 */
export async function listFiles(path: string, limit: number): Promise<Listing> {
  const top = await stat(path, { bigint: true });
  if (top.isFile()) return { files: [{ path, named: true, stamp: stampOf(top) }], faults: [] };
  if (!top.isDirectory()) return { files: [], faults: [{ path, why: 'is neither a file nor a folder' }] };

  const walk: Walk = { files: [], faults: [], visited: new Set([idOf(top)]), limit };
  await addFolder(path, await readdir(path, { withFileTypes: true }), walk);
  if (walk.visited.size > MAX_FOLDERS) {
    walk.faults.unshift({ path, why: `has more than ${MAX_FOLDERS} folders; the rest was not read` });
  }
  return walk;
}

async function addFolder(folder: string, entries: readonly Dirent[], walk: Walk): Promise<void> {
  const { files, faults, visited, limit } = walk;
  const folders: { readonly path: string; readonly id: string }[] = [];
  for (const entry of entries.filter(isOurs).toSorted(byName)) {
    if (files.length >= limit || faults.length >= limit) return;
    const path = join(folder, entry.name);
    // Mounted ConfigMaps are links, so what counts is what a link leads to; one that leads nowhere is not there.
    const target = await stat(path, { bigint: true }).catch((error: unknown) => {
      if (!leadsNowhere(error)) faults.push({ path, why: unreadable(error) });
    });
    if (!target) continue;
    if (target.isDirectory()) folders.push({ path, id: idOf(target) });
    else if (!hasExtension(entry)) continue;
    else if (target.isFile()) files.push({ path, named: false, stamp: stampOf(target) });
    else faults.push({ path, why: 'is not a regular file' });
  }
  for (const { path, id } of folders) {
    if (visited.has(id)) continue;
    visited.add(id);
    if (visited.size > MAX_FOLDERS) return;
    const inside = await readdir(path, { withFileTypes: true }).catch((error: unknown) => {
      if (!leadsNowhere(error)) faults.push({ path, why: unreadable(error) });
    });
    if (inside) await addFolder(path, inside, walk);
  }
}

export type Content =
  | { readonly is: 'text'; readonly text: string }
  | { readonly is: 'gone' | 'too large' }
  | { readonly is: 'unreadable'; readonly why: string };

/**
 * The text of a regular file. A pipe or a device could keep us waiting or never end, so that nothing else is read from; a
 * file may become one after it was listed, hence the look at what was opened.
 */
export async function readText(path: string): Promise<Content> {
  try {
    await using file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    if (!(await file.stat()).isFile()) return { is: 'unreadable', why: 'is not a regular file' };
    const bytes = Buffer.alloc(MAX_BYTES + 1);
    let length = 0;
    for (let read = -1; read !== 0 && length < bytes.length; length += read) {
      read = (await file.read(bytes, length, bytes.length - length)).bytesRead;
    }
    return length > MAX_BYTES ? { is: 'too large' } : { is: 'text', text: bytes.toString('utf8', 0, length) };
  } catch (error) {
    return leadsNowhere(error) ? { is: 'gone' } : { is: 'unreadable', why: unreadable(error) };
  }
}

/** As people write it: relative to where they are when the file is below, else in full. */
export function displayName(path: string): string {
  const below = relative(process.cwd(), path);
  return below === '' || below === '..' || below.startsWith(`..${sep}`) ? path : below;
}

/** Files of other names are passed over without a look at them; a link may be a folder, whatever its name. */
function isOurs(entry: Dirent): boolean {
  if (entry.name.startsWith('.') || entry.name === 'node_modules') return false;
  return !entry.isFile() || hasExtension(entry);
}

function hasExtension({ name }: Dirent): boolean {
  return EXTENSIONS.some((extension) => name.toLowerCase().endsWith(extension));
}

function byName(a: Dirent, b: Dirent): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

function idOf({ dev, ino }: BigIntStats): string {
  return `${dev}:${ino}`;
}

function stampOf(file: BigIntStats): string {
  return `${idOf(file)}:${file.size}:${file.mtimeNs}:${file.ctimeNs}`;
}

function leadsNowhere(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ELOOP';
}

function unreadable(error: unknown): string {
  return `cannot be read (${codeOf(error) ?? 'unknown error'})`;
}
