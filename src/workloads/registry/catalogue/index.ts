import type { RegistryEntry } from '../entry.ts';
import type { RegistrySource } from '../sources/source.ts';
import { IMAGES } from './images.ts';
import { PACKAGES } from './packages.ts';
import { REMOTES } from './remotes.ts';

/** Well-known servers that come with Sallyport, so that a first `sally run fetch` needs no network registry. */
export const CATALOGUE: readonly RegistryEntry[] = [...PACKAGES, ...IMAGES, ...REMOTES].toSorted((a, b) =>
  a.name < b.name ? -1 : 1,
);

export const catalogueSource: RegistrySource = {
  label: 'the built-in catalogue',
  read: async () => ({ entries: CATALOGUE, problems: [] }),
};
