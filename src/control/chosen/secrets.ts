import { join } from 'node:path';
import { dataFolder, SallyError, type Secret } from '../../base/index.ts';
import {
  type AskHidden,
  belongsTo,
  checkSecretName,
  createPasswordSource,
  encryptedProvider,
  environmentProvider,
  type FindKeyring,
  findSystemKeyring,
  isSystemName,
  keyringProvider,
  onePasswordProvider,
  type ResolveSecrets,
  resolveReferences,
  type ScryptCost,
  type SecretProvider,
  systemName,
} from '../../secrets/index.ts';
import { PROVIDERS, type ProviderName, readSettings, type SecretSettings } from '../../settings/index.ts';

export interface SecretParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absent where nobody can be asked, as in a supervisor. */
  readonly askHidden?: AskHidden;
  readonly findKeyring?: FindKeyring;
  /** Less than usual in tests, which guess at nothing. */
  readonly cost?: ScryptCost;
}

/** The secrets of this user, as commands and workloads use them. */
export interface Secrets {
  readonly choice: SecretSettings;
  /** For people: names are checked, and what we keep ourselves is neither shown nor touched. */
  readonly provider: SecretProvider;
  /** A value by name as a server would get it: `SALLYPORT_SECRET_<NAME>` wins over the provider. */
  find(name: string): Promise<Secret | undefined>;
  /** Follows references for one workload: secrets of the user, and what was kept for this workload, never for another. */
  resolverFor(workload: string): ResolveSecrets;
  /** Keeps values that somebody typed in for a workload, and gives the references under which they are found again. */
  keepFor(workload: string, values: Readonly<Record<string, Secret>>): Promise<readonly string[]>;
  /** What was kept for a variable of a workload, as a reference. */
  keptFor(workload: string, variable: string): Promise<string | undefined>;
  /** Keeps values under names of ours that a configuration refers to already. */
  keepNamed(values: ReadonlyMap<string, Secret>): Promise<void>;
  /** Whether there is a value under a name of ours. */
  isKept(name: string): Promise<boolean>;
  /** Forgets what was kept for a workload: everything, or the names that are meant. */
  forget(workload: string, isMeant?: (name: string) => boolean): Promise<void>;
}

/** Opens the store that this user chose; the encrypted file when he did not. Nothing is read or asked before it is needed. */
export async function openSecrets(parts: SecretParts): Promise<Secrets> {
  const choice = await chosenProvider(parts.env);
  const provider = openProvider(choice, parts);
  const environment = environmentProvider(parts.env);
  // Our own values need a place that takes them, also where those of the user come from one that does not.
  const ours = provider.canWrite ? provider : openProvider({ provider: 'encrypted' }, parts);
  const find = async (name: string): Promise<Secret | undefined> => {
    checkSecretName(name);
    return (await environment.get(name)) ?? provider.get(name);
  };
  return {
    choice,
    provider: forPeople(provider),
    find,
    resolverFor: (workload) => (references) =>
      resolveReferences(references, (name) => (belongsTo(name, 'workload', workload) ? ours.get(name) : find(name))),
    async keepFor(workload, values) {
      const references: string[] = [];
      for (const [variable, value] of Object.entries(values)) {
        const name = systemName('workload', workload, variable);
        await ours.set(name, value);
        references.push(`${name},target=${variable}`);
      }
      return references;
    },
    async keptFor(workload, variable) {
      const name = systemName('workload', workload, variable);
      return (await ours.get(name)) ? `${name},target=${variable}` : undefined;
    },
    async keepNamed(values) {
      for (const [name, value] of values) await ours.set(name, value);
    },
    async isKept(name) {
      return (await ours.get(name)) !== undefined;
    },
    async forget(workload, isMeant = () => true) {
      const names = (await ours.list()).filter((name) => belongsTo(name, 'workload', workload));
      for (const name of names.filter(isMeant)) await ours.delete(name);
    },
  };
}

/** The provider itself, with our own names in it; to look after it, not to look things up. */
export function openProvider(choice: SecretSettings, parts: SecretParts): SecretProvider {
  const { env, askHidden, findKeyring = findSystemKeyring, cost } = parts;
  switch (choice.provider) {
    case 'encrypted': {
      const password = createPasswordSource({
        env,
        keyFile: join(dataFolder(env), 'secrets.key'),
        findKeyring,
        ...(choice.key === undefined ? {} : { key: choice.key }),
        ...(askHidden === undefined ? {} : { askHidden }),
      });
      const file = join(dataFolder(env), 'secrets.enc');
      return encryptedProvider({ file, password, ...(cost === undefined ? {} : { cost }) });
    }
    case 'keyring':
      return keyringProvider(findKeyring);
    case 'environment':
      return environmentProvider(env);
    case '1password':
      return onePasswordProvider({ env });
  }
}

/** `SALLYPORT_SECRETS_PROVIDER` wins over what was chosen. */
async function chosenProvider(env: SecretParts['env']): Promise<SecretSettings> {
  const { secrets } = await readSettings(env);
  const asked = env.SALLYPORT_SECRETS_PROVIDER;
  if (!asked) return secrets ?? { provider: 'encrypted' };
  const provider = parseProvider(asked, 'SALLYPORT_SECRETS_PROVIDER');
  return provider === secrets?.provider ? secrets : { provider };
}

export function parseProvider(text: string, where: string): ProviderName {
  const provider = PROVIDERS.find((name) => name === text);
  if (provider) return provider;
  throw new SallyError('usage.invalid', `${where}: there is no provider ${JSON.stringify(text)}`, {
    hint: `the providers are ${PROVIDERS.join(', ')}`,
  });
}

function forPeople(provider: SecretProvider): SecretProvider {
  const checked = <T>(name: string, work: () => Promise<T>): Promise<T> => {
    checkSecretName(name);
    return work();
  };
  return {
    ...provider,
    get: async (name) => checked(name, () => provider.get(name)),
    set: async (name, value) => checked(name, () => provider.set(name, value)),
    delete: async (name) => checked(name, () => provider.delete(name)),
    list: async () => (await provider.list()).filter((name) => !isSystemName(name)),
  };
}
