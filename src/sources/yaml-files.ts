import { resolve } from 'node:path';
import { codeOf, SallyError } from '../base/index.ts';
import type { Problem, RawResource } from '../resources/index.ts';
import { displayName, type Found, type Listing, listFiles, readText } from './files.ts';
import { isMeantForUs } from './resource-json.ts';
import { type Read, readDocuments } from './yaml-documents.ts';

const MAX_FILES = 1_000;
const NOTHING: Read = { raw: [], problems: [] };

/**
 * Every resource in a file, or in a folder and its sub-folders. Throws only when the path itself cannot be read; what is
 * wrong inside is a problem with its place, and all of them are reported.
 */
export async function readYamlFolder(path: string): Promise<Read> {
  const { files, faults } = await list(resolve(path));
  const raw: RawResource[] = [];
  const problems: Problem[] = faults.map((fault) => about(fault.path, fault.why));
  if (files.length > MAX_FILES) problems.push(about(path, `has more than ${MAX_FILES} files; the rest was not read`));
  for (const file of files.slice(0, MAX_FILES)) {
    const read = await readOne(file);
    for (const one of read.raw) raw.push(one); // a spread of very many would end the stack
    for (const one of read.problems) problems.push(one);
  }
  if (raw.length === 0 && problems.length === 0) {
    problems.push(about(path, files.length === 0 ? 'has no .yaml, .yml or .json files' : 'declares no resources'));
  }
  return { raw, problems };
}

async function list(path: string): Promise<Listing> {
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

async function readOne(file: Found): Promise<Read> {
  const content = await readText(file.path);
  if (!isMeantForUs(file, content)) return NOTHING;
  switch (content.is) {
    case 'text':
      return readDocuments(displayName(file.path), content.text);
    case 'gone':
      return NOTHING; // removed since it was listed, and the watcher knows
    case 'too large':
      return { raw: [], problems: [about(file.path, 'is larger than 1 MiB')] };
    case 'unreadable':
      return { raw: [], problems: [about(file.path, content.why)] };
  }
}

/** A problem with a file as a whole. */
function about(path: string, message: string): Problem {
  return { file: displayName(resolve(path)), line: 1, column: 1, path: '', message };
}
