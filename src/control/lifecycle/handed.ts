import { SallyError } from '../../base/index.ts';
import type { RunConfig } from '../../resources/index.ts';
import type { HandedSecrets } from './handed-secrets.ts';

/** What a command hands to the supervisor that it calls, through a pipe: nobody else sees it, and nothing has to be checked twice. */
export interface Handed {
  readonly config: RunConfig;
  readonly secrets: HandedSecrets;
}

const LARGEST = 32 * 1024 * 1024;

/** Reads to the end what was handed over. */
export async function readHanded(input: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean }): Promise<Handed> {
  if (input.isTTY) throw nothing();
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of input) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size > LARGEST) throw new SallyError('usage.invalid', `more than ${LARGEST} bytes were handed over`);
  }
  if (size === 0) throw nothing();
  return JSON.parse(Buffer.concat(chunks).toString('utf8')) as Handed;
}

/** Its command was killed in this moment, or there was none. */
function nothing(): SallyError {
  return new SallyError('usage.invalid', 'nothing was handed over to this supervisor', {
    hint: 'start a workload with: sally start NAME',
  });
}
