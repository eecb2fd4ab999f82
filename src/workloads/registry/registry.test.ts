import { expect, it } from 'vitest';
import type { EntryProblem, RegistryEntry } from './entry.ts';
import { createRegistry } from './registry.ts';

function entry(name: string, more: Partial<RegistryEntry> = {}): RegistryEntry {
  return { name, description: '', status: 'active', tags: [], tools: [], ways: [], refused: [], ...more };
}

const ENTRIES = [
  entry('dev.acme/notes', { description: 'Keeps notes' }),
  entry('io.github.bob/fetch'),
  entry('io.github.eve/fetch'),
  entry('dev.acme/fetcher', { description: 'Fetches things', tags: ['web'] }),
  entry('filesystem'),
];
const PROBLEMS: readonly EntryProblem[] = [
  { at: 'servers[9]', name: 'dev.acme/broken', says: 'packages must be a list' },
];
const registry = createRegistry({
  label: 'the test registry',
  read: async () => ({ entries: ENTRIES, problems: PROBLEMS }),
});

it('finds a whole name, and the only one that ends in a word', async () => {
  expect((await registry.find('io.github.bob/fetch'))?.name).toBe('io.github.bob/fetch');
  expect((await registry.find('notes'))?.name).toBe('dev.acme/notes');
  expect((await registry.find('filesystem'))?.name).toBe('filesystem');
});

it('lists the full names when several end in the word', async () => {
  await expect(registry.find('fetch')).rejects.toMatchObject({
    code: 'registry.ambiguous',
    message: 'the test registry has several servers called fetch: io.github.bob/fetch, io.github.eve/fetch',
  });
});

it('takes a slip of the pen for one, not for an image', async () => {
  await expect(registry.find('filesytem')).rejects.toMatchObject({
    code: 'registry.unknown_server',
    hint: expect.stringContaining('did you mean filesystem?'),
  });
});

it.each(['postgres', 'ghcr.io/acme/notes', 'filesytem:latest', 'dev.acme/none', 'OTES/', 'tes'])(
  'has no server %s',
  async (name) => {
    expect(await registry.find(name)).toBeUndefined();
  },
);

it('says that an entry is wrong instead of passing over it', async () => {
  await expect(registry.find('dev.acme/broken')).rejects.toMatchObject({
    code: 'registry.invalid',
    message: expect.stringContaining('packages must be a list'),
  });
});

it('lets the failure of a registry rise', async () => {
  const broken = createRegistry({ label: 'x', read: () => Promise.reject(new Error('down')) });
  await expect(broken.find('notes')).rejects.toThrow('down');
});

it('searches all words in name, title, description and tags, and shows namesakes first', async () => {
  const found = async (query: string): Promise<readonly string[]> =>
    (await registry.search(query)).entries.map(({ name }) => name);
  expect(await found('KEEPS notes')).toEqual(['dev.acme/notes']);
  expect(await found('web')).toEqual(['dev.acme/fetcher']);
  expect(await found('fetch')).toEqual(['io.github.bob/fetch', 'io.github.eve/fetch', 'dev.acme/fetcher']);
  expect(await found('fetch nowhere')).toEqual([]);
});
