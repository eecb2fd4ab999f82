import { SallyError } from '../../../base/index.ts';
import { parseDocument } from '../formats/document.ts';
import { createFetch, type FetchParts } from './fetch.ts';
import type { RegistrySource } from './source.ts';

/** One JSON document on a web server. */
export function jsonUrlSource(url: URL, parts: FetchParts): RegistrySource {
  const label = `the registry ${url.href}`;
  const fetch = createFetch(label, parts);
  return {
    label,
    async read(options) {
      const reading = await fetch(url, (text) => parseDocument(text, label), options);
      if (reading) return reading;
      throw new SallyError('registry.unavailable', `${label} is not there`, {
        hint: 'correct the URL with sally config set-registry',
      });
    },
  };
}
