import { readBounded } from '../../../base/files/index.ts';
import { SallyError } from '../../../base/index.ts';
import { MAX_BYTES, parseDocument } from '../formats/document.ts';
import type { RegistrySource } from './source.ts';

/** A file of this machine, read anew each time. */
export function fileSource(path: string): RegistrySource {
  const label = `the registry file ${path}`;
  return {
    label,
    async read() {
      const bytes = await readBounded(path, MAX_BYTES).catch((cause: unknown) => {
        throw new SallyError('registry.unavailable', `${label} cannot be read`, {
          cause,
          hint: 'check the file, or choose another with sally config set-registry',
        });
      });
      if (bytes) return parseDocument(bytes.toString('utf8'), label);
      throw new SallyError('registry.unavailable', `${label} is not there`, {
        hint: 'put it back, or go back to the built-in catalogue with sally config unset-registry',
      });
    },
  };
}
