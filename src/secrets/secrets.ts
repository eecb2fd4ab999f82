import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, SallyError, Secret } from '../base/index.ts';

/** One value of a named secret, as resources refer to it. */
export interface SecretRef {
  readonly name: string;
  readonly key: string;
}

/** Where secret values come from besides Secret resources. Asked anew each time, so a rotated value is found at the next reload. */
export interface SecretSource {
  read(ref: SecretRef): Secret | undefined;
  /** How a person can supply the value, for error messages. */
  describe(ref: SecretRef): string;
}

export interface SecretSourceOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A folder with one folder per secret and one file per key in it, as Kubernetes mounts them. */
  readonly folder?: string;
}

const MAX_BYTES = 1024 * 1024;

/** The environment first, then files: what an operator sets for one run wins over what lies on the disk. */
export function createSecretSource({ env, folder }: SecretSourceOptions): SecretSource {
  return {
    read(ref) {
      const fromEnv = env[variableFor(ref)];
      if (fromEnv !== undefined) return new Secret(fromEnv);
      return folder === undefined ? undefined : readSecretFile(folder, ref);
    },
    describe: (ref) =>
      `set ${variableFor(ref)}${folder === undefined ? '' : ` or write ${join(folder, ref.name, ref.key)}`}`,
  };
}

/** `SALLYPORT_SECRET_GITHUB_CLIENT_SECRET` for key `client-secret` of secret `github`. */
export function variableFor({ name, key }: SecretRef): string {
  return `SALLYPORT_SECRET_${`${name}_${key}`.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}

function readSecretFile(folder: string, { name, key }: SecretRef): Secret | undefined {
  // Names of resources cannot contain a slash or be `..`; a key is checked here as it becomes a file name.
  if ([name, key].some((part) => !/^[A-Za-z0-9._-]+$/.test(part) || /^\.+$/.test(part))) return undefined;
  const file = join(folder, name, key);
  try {
    const bytes = readFileSync(file);
    if (bytes.byteLength > MAX_BYTES)
      throw new SallyError('config.unreadable', `the secret file ${file} is larger than 1 MiB`);
    return new Secret(bytes.toString('utf8').replace(/\r?\n$/, ''));
  } catch (error) {
    if (codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR') return undefined;
    if (error instanceof SallyError) throw error;
    throw new SallyError('config.unreadable', `the secret file ${file} cannot be read`, { cause: error });
  }
}
