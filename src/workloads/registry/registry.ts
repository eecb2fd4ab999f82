import { printable, SallyError, suggest } from '../../base/index.ts';
import type { Reading, RegistryEntry } from './entry.ts';
import type { ReadOptions, RegistrySource } from './sources/source.ts';

export interface Registry {
  readonly label: string;
  list(options?: ReadOptions): Promise<Reading>;
  search(query: string, options?: ReadOptions): Promise<Reading>;
  /**
   * The entry of that name: the whole name first, then the only one that ends in it. `undefined` when there is none; an error
   * when several end in it, when its entry is wrong, when it looks like a slip of the pen, and when the registry cannot be asked.
   */
  find(name: string, options?: ReadOptions): Promise<RegistryEntry | undefined>;
}

export function createRegistry(source: RegistrySource): Registry {
  const { label } = source;
  return {
    label,
    list: (options) => source.read(options),
    async search(query, options) {
      const words = query
        .toLowerCase()
        .split(/\s+/)
        .filter((word) => word !== '');
      const [longest = ''] = words.toSorted((a, b) => b.length - a.length);
      const { entries, problems } = await (source.readMatching?.(longest, options) ?? source.read(options));
      const found = entries.filter((entry) => words.every((word) => textOf(entry).includes(word)));
      return { entries: found.toSorted((a, b) => rank(b, words) - rank(a, words)), problems };
    },
    async find(name, options) {
      const { entries, problems } = await (source.readNamed?.(name, options) ?? source.read(options));
      const exact = entries.find((entry) => entry.name === name);
      if (exact) return exact;
      const wrong = problems.find((problem) => problem.name === name);
      if (wrong) throw wrongEntry(name, label, wrong.says);
      if (name.includes('/')) return undefined;
      const [first, ...others] = entries.filter((entry) => entry.name.endsWith(`/${name}`));
      if (others.length === 0 && first) return first;
      if (first) throw ambiguous(name, label, [first, ...others]);
      refuseSlip(name, label, entries);
      return undefined;
    },
  };
}

function textOf({ name, title = '', description, tags }: RegistryEntry): string {
  return [name, title, description, ...tags].join('\n').toLowerCase();
}

/** What is called so comes before what only speaks of it; what is well known before what is not. */
function rank({ name, tags, stars = 0, status }: RegistryEntry, words: readonly string[]): number {
  const last = name.toLowerCase().split('/').at(-1) ?? '';
  const points = words.map((word) => (last === word ? 8 : last.includes(word) ? 4 : tags.includes(word) ? 2 : 0));
  return (
    points.reduce<number>((sum, one) => sum + one, 0) +
    (status === 'active' ? 1 : 0) +
    Math.min(stars, 1_000_000) / 10_000_000
  );
}

/** A word that is nearly a name would become an image of whoever took that word: the person is asked to say what he means. */
function refuseSlip(name: string, label: string, entries: readonly RegistryEntry[]): void {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) return;
  const names = entries.flatMap((entry) => [entry.name, entry.name.split('/').at(-1) ?? '']);
  const close = suggest(name, names);
  if (close === undefined) return;
  throw new SallyError('registry.unknown_server', `${label} has no server ${name}`, {
    hint: `did you mean ${close}? An image of that name is written ${name}:latest`,
  });
}

function ambiguous(name: string, label: string, found: readonly RegistryEntry[]): SallyError {
  const names = found.slice(0, 20).map((entry) => entry.name);
  return new SallyError('registry.ambiguous', `${label} has several servers called ${name}: ${names.join(', ')}`, {
    hint: 'write the full name of the one you mean',
  });
}

function wrongEntry(name: string, label: string, says: string): SallyError {
  return new SallyError('registry.invalid', `the entry ${name} of ${label} is wrong: ${printable(says, 300)}`, {
    hint: 'tell whoever keeps the registry, or run the image, package or URL itself',
  });
}
