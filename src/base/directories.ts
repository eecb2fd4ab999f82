import { homedir } from 'node:os';
import { join } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

/** Where what runs leaves word of itself (XDG). `SALLYPORT_HOME` moves all our folders below one. */
export function stateFolder(env: Environment): string {
  return folderFor(env, 'state', env.XDG_STATE_HOME, '.local/state');
}

/** What this user chose on this machine. */
export function configFolder(env: Environment): string {
  return folderFor(env, 'config', env.XDG_CONFIG_HOME, '.config');
}

/** What must not be lost: the encrypted file of secrets. */
export function dataFolder(env: Environment): string {
  return folderFor(env, 'data', env.XDG_DATA_HOME, '.local/share');
}

/** What can be fetched again. */
export function cacheFolder(env: Environment): string {
  return folderFor(env, 'cache', env.XDG_CACHE_HOME, '.cache');
}

function folderFor(env: Environment, ours: string, xdg: string | undefined, usual: string): string {
  if (env.SALLYPORT_HOME) return join(env.SALLYPORT_HOME, ours);
  return join(xdg || join(env.HOME || homedir(), usual), 'sallyport');
}
