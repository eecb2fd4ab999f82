import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { SallyError } from '../base/index.ts';

/** The certificates of a bundle, found readable now rather than when the first caller waits for them. */
export async function readCaBundle(file: string): Promise<string> {
  const pem = await readFile(file, 'utf8').catch((cause: unknown) => {
    throw new SallyError('config.unreadable', `the CA bundle ${file} cannot be read`, { cause });
  });
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    for (const block of blocks) new X509Certificate(block);
    if (blocks.length > 0) return pem;
  } catch (cause) {
    throw new SallyError('config.unreadable', `a certificate in the CA bundle ${file} is malformed`, { cause });
  }
  throw new SallyError('config.unreadable', `the CA bundle ${file} has no certificate`, {
    hint: 'it holds one or more blocks that begin with -----BEGIN CERTIFICATE-----',
  });
}
