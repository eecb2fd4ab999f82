import { homedir } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where what runs leaves word of itself (XDG). `SALLYPORT_HOME` moves all our folders below one. */
export function stateFolder(env: Environment): string {
  if (env.SALLYPORT_HOME) return join(env.SALLYPORT_HOME, 'state');
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local/state'), 'sallyport');
}
