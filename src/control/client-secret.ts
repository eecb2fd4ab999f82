import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SallyError, Secret } from '../base/index.ts';
import type { ResolveSecrets } from '../secrets/index.ts';
import type { Environment } from '../workloads/index.ts';

/** What flags say about a client secret that is needed at each start. */
export interface ClientSecretFlags {
  readonly clientId: string | undefined;
  readonly file: string | undefined;
  /** The variable that holds the secret where a command line would show it to everybody on the machine. */
  readonly variable: string;
}

/** Where a client secret is found again. Its value is not kept. */
export function clientSecretSource(
  { clientId, file, variable }: ClientSecretFlags,
  env: Environment,
): string | undefined {
  if (file !== undefined) return `file:${resolve(file)}`;
  return clientId !== undefined && env[variable] ? `env:${variable}` : undefined;
}

export interface SecretPlaces {
  readonly resolveSecrets: ResolveSecrets;
  readonly env: Environment;
}

/** The value behind a source: in the environment, in a file, or in the store of the user, under a name that `handed` makes. */
export async function readClientSecret(
  source: string,
  handed: (name: string) => string,
  { resolveSecrets, env }: SecretPlaces,
): Promise<Secret> {
  const colon = source.indexOf(':');
  const [kind, place] = [source.slice(0, colon), source.slice(colon + 1)];
  switch (kind) {
    case 'file':
      return present(
        await readText(place),
        `the file ${place} with the client secret is empty`,
        'write the secret into it',
      );
    case 'secret': {
      const [value] = Object.values(await resolveSecrets([handed(place)]));
      return present(
        value?.reveal(),
        `the secret ${place} has no value`,
        `give it one with: sally secret set ${place}`,
      );
    }
    default: {
      const words = `the variable ${place} with the client secret is not set`;
      return present(env[place], words, `set ${place} for this command`);
    }
  }
}

function present(text: string | undefined, message: string, hint: string): Secret {
  if (text) return new Secret(text);
  throw new SallyError('config.secret_missing', message, { hint });
}

async function readText(file: string): Promise<string> {
  try {
    return (await readFile(file, 'utf8')).trim();
  } catch (cause) {
    throw new SallyError('config.unreadable', `${file} cannot be read`, { cause });
  }
}
