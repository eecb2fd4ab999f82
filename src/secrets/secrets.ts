import { join } from 'node:path';
import { Secret } from '../base/index.ts';
import { readSecretFile } from './secret-file.ts';

/** One value of a named secret, as resources refer to it. */
export interface SecretRef {
  /** The namespace of the resource that refers to it: a namespace is a wall, here as well. */
  readonly namespace: string;
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
  /**
   * A folder with one folder per secret and one file per key in it, as Kubernetes mounts them. Secrets of a namespace other
   * than `default` lie one folder deeper, in one that has the name of the namespace.
   */
  readonly folder?: string;
}

/** Resources that name no namespace are in this one, so its secrets are named without it. */
const DEFAULT_NAMESPACE = 'default';

/** The environment first, then files: what an operator sets for one run wins over what lies on the disk. */
export function createSecretSource({ env, folder }: SecretSourceOptions): SecretSource {
  return {
    read(ref) {
      const variable = variableFor(ref);
      const fromEnv = Object.hasOwn(env, variable) ? env[variable] : undefined;
      if (fromEnv !== undefined) return new Secret(fromEnv);
      return folder === undefined || !isSafe(ref) ? undefined : readSecretFile(join(folder, ...stepsTo(ref)));
    },
    describe: (ref) =>
      `set ${variableFor(ref)}${folder === undefined ? '' : ` or write ${join(folder, ...stepsTo(ref))}`}`,
  };
}

/**
 * `SALLYPORT_SECRET_GITHUB_CLIENT_SECRET` for key `client-secret` of secret `github`; in namespace `team`
 * `SALLYPORT_SECRET_TEAM__GITHUB_CLIENT_SECRET`. Name and key never have two underscores in a row, so that what stands
 * before the last two is the namespace: no variable is read for two namespaces. Two secrets of one namespace can meet in a
 * variable (`a-b` with key `c`, `a` with key `b-c`); the validator reports those.
 */
export function variableFor({ namespace, name, key }: SecretRef): string {
  const secret = `${name}_${key}`.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  const space = namespace.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_');
  return `SALLYPORT_SECRET_${namespace === DEFAULT_NAMESPACE ? '' : `${space}__`}${secret}`;
}

function stepsTo({ namespace, name, key }: SecretRef): readonly string[] {
  return namespace === DEFAULT_NAMESPACE ? [name, key] : [namespace, name, key];
}

/** Whether the path stays in the folder and off what Kubernetes keeps there: no slash, no `..`, no `..data`. */
function isSafe(ref: SecretRef): boolean {
  return stepsTo(ref).every((step) => /^[A-Za-z0-9._-]+$/.test(step) && step !== '.' && !step.startsWith('..'));
}
