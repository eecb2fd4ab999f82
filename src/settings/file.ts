import { join } from 'node:path';
import type { Document } from 'yaml';
import { readBounded, replaceFile, withLock } from '../base/files/index.ts';
import { configFolder, SallyError } from '../base/index.ts';
import { parseSettings, type Settings } from './settings.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const VERSION = 1;
const MAX_BYTES = 1024 * 1024;

export function settingsFile(env: Environment): string {
  return join(configFolder(env), 'config.yaml');
}

/** What was chosen; nothing when there is no file. Reading never writes. */
export async function readSettings(env: Environment): Promise<Settings> {
  const file = settingsFile(env);
  return parseSettings((await readDocument(file)).toJS(), file);
}

/**
 * Changes some settings and leaves the rest of the file as it is: other keys, comments, order. `undefined` takes a setting
 * out. One command at a time.
 */
export async function changeSettings(
  env: Environment,
  changes: Partial<Record<keyof Settings, unknown>>,
): Promise<void> {
  const file = settingsFile(env);
  await withLock(`${file}.lock`, async () => {
    const document = await readDocument(file);
    parseSettings(document.toJS(), file); // what is wrong already must be seen, not built upon
    document.set('version', VERSION);
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) document.delete(name);
      else document.set(name, document.createNode(value));
    }
    parseSettings(document.toJS(), file); // nor is a mistake of ours written
    await replaceFile(file, document.toString());
  });
}

async function readDocument(file: string): Promise<Document> {
  const bytes = await readBounded(file, MAX_BYTES);
  const { parseDocument } = await import('yaml');
  const document: Document = parseDocument(bytes?.toString('utf8') ?? '');
  const [error] = document.errors;
  if (error) {
    throw new SallyError('config.invalid', `${file}: ${error.message.split('\n', 1)[0]}`, {
      hint: 'correct the file, or move it away to start anew',
    });
  }
  if (document.contents === null) document.contents = document.createNode({});
  const version: unknown = (document.toJS() as { version?: unknown }).version ?? VERSION;
  if (version === VERSION) return document;
  throw new SallyError('config.unsupported', `${file} is of version ${String(version)}, this sally writes ${VERSION}`, {
    hint: 'use the newer sally, or move the file away to start anew',
  });
}
