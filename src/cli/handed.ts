import type { HandedSecrets } from '../control/lifecycle/index.ts';
import type { ResolveSecrets } from '../secrets/index.ts';
import type { Shell } from './cli.ts';
import { createTerminal } from './terminal.ts';

const LARGEST = 16 * 1024 * 1024;

/** The secrets that the command which called this supervisor wrote to its stdin. */
export async function readHanded(shell: Shell): Promise<ResolveSecrets> {
  const { handedResolver } = await import('../control/lifecycle/index.ts');
  const text = await createTerminal(shell.stdin(), shell.err).readAll(LARGEST);
  return handedResolver(text === '' ? {} : (JSON.parse(text) as HandedSecrets));
}
