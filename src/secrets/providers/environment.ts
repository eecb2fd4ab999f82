import { Secret } from '../../base/index.ts';
import { isSystemName } from '../names.ts';
import { readOnly, type SecretProvider } from './provider.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'SALLYPORT_SECRET_';

/** `SALLYPORT_SECRET_NOTES_API_KEY` for `notes-api.key`: what a shell can set, whatever the name has in it. */
export function secretVariable(name: string): string {
  return `${PREFIX}${name.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
}

export function environmentProvider(env: Environment): SecretProvider {
  return {
    kind: 'environment',
    ...readOnly('the environment', `set ${PREFIX}NAME in the environment of sally`),
    describe: () => `variables of the environment that start with ${PREFIX}`,
    async get(name) {
      if (isSystemName(name)) return undefined;
      const variable = secretVariable(name);
      const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
      return value === undefined ? undefined : new Secret(value);
    },
    // A variable does not tell how its name was once written; in capitals it is found again.
    list: async () =>
      Object.keys(env)
        .filter((variable) => variable.startsWith(PREFIX) && variable.length > PREFIX.length)
        .map((variable) => variable.slice(PREFIX.length))
        .filter((name) => !isSystemName(name))
        .sort(),
  };
}
