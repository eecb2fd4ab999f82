import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { codeOf, SallyError } from '../base/index.ts';
import type { Problem, RawResource } from '../resources/index.ts';
import { displayName, type Found, listFiles } from './files.ts';
import { type Read, readDocuments } from './yaml-documents.ts';

const MAX_FILES = 1_000;
const MAX_BYTES = 1024 * 1024;

/**
 * Every resource in a file, or in a folder and its sub-folders. Throws only when the path itself cannot be read; what is
 * wrong inside is a problem with its place, and all of them are reported.
 */
export async function readYamlFolder(path: string): Promise<Read> {
  const files = await list(resolve(path));
  const raw: RawResource[] = [];
  const problems: Problem[] = [];
  if (files.length === 0) problems.push(about(path, 'has no .yaml, .yml or .json files'));
  if (files.length > MAX_FILES) problems.push(about(path, `has more than ${MAX_FILES} files; the rest was not read`));
  for (const file of files.slice(0, MAX_FILES)) {
    const read = await readOne(file);
    raw.push(...read.raw);
    problems.push(...read.problems);
  }
  if (files.length > 0 && raw.length === 0 && problems.length === 0)
    problems.push(about(path, 'declares no resources'));
  return { raw, problems };
}

async function list(path: string): Promise<Found[]> {
  try {
    return await listFiles(path, MAX_FILES + 1);
  } catch (cause) {
    const missing = codeOf(cause) === 'ENOENT';
    throw new SallyError('config.unreadable', `${displayName(path)} ${missing ? 'does not exist' : 'cannot be read'}`, {
      cause,
      hint: missing ? 'name a YAML file, or a folder with YAML files' : 'check who may read it',
    });
  }
}

async function readOne({ path, size }: Found): Promise<Read> {
  if (size > MAX_BYTES) return { raw: [], problems: [about(path, 'is larger than 1 MiB')] };
  try {
    return readDocuments(displayName(path), await readFile(path, 'utf8'));
  } catch (error) {
    return { raw: [], problems: [about(path, `cannot be read (${codeOf(error) ?? 'unknown error'})`)] };
  }
}

/** A problem with a file as a whole. */
function about(path: string, message: string): Problem {
  return { file: displayName(resolve(path)), line: 1, column: 1, path: '', message };
}
