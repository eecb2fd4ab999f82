import { readBounded } from '../../base/files/index.ts';
import { SallyError } from '../../base/index.ts';

type Fields = Readonly<Record<string, unknown>>;

/** How a file of our state is read, in its newest form and in those that older versions of ours wrote. */
export interface FileForm<T> {
  /** What the file describes, for people. */
  readonly what: string;
  readonly version: number;
  /** By the version they start from: each step makes the form of the next version. */
  readonly migrations: Readonly<Record<number, (old: Fields) => Fields>>;
  /** Throws when a field is wrong; the message continues "the file …". */
  readonly parse: (fields: Fields) => T;
}

const LARGEST = 16 * 1024 * 1024;

/** The content of a file, or `undefined` when there is none. Older forms are translated while reading; nothing is written. */
export async function readVersioned<T>(path: string, form: FileForm<T>, repair: string): Promise<T | undefined> {
  const bytes = await readBounded(path, LARGEST);
  if (bytes === undefined) return undefined;
  try {
    let fields = JSON.parse(bytes.toString('utf8')) as Fields;
    if (typeof fields !== 'object' || fields === null) throw new Error('it holds no object');
    for (;;) {
      const version = Number(fields.version);
      if (version === form.version) return form.parse(fields);
      const migrate = form.migrations[version];
      if (version > form.version) throw new Error('it was written by a newer version of sally');
      if (!migrate) throw new Error('it does not say which version wrote it');
      fields = migrate(fields);
    }
  } catch (cause) {
    throw new SallyError('state.unreadable', `${path} cannot be understood: ${(cause as Error).message}`, {
      hint: repair,
    });
  }
}

export function formatVersioned(version: number, fields: Fields): string {
  return `${JSON.stringify({ version, ...fields }, undefined, 2)}\n`;
}
