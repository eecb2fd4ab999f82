import { randomBytes } from 'node:crypto';
import { SallyError, Secret } from '../../base/index.ts';
import { findSystemKeyring, type SecretProvider, systemName } from '../../secrets/index.ts';
import { changeSettings, type KeySource, readSettings, type SecretSettings } from '../../settings/index.ts';
import { openProvider, type SecretParts } from './secrets.ts';

/** What somebody may say when he chooses; the rest is found out. */
export interface SecretChoice {
  readonly provider: SecretSettings['provider'];
  readonly key?: KeySource;
}

export interface ChosenProvider {
  readonly settings: SecretSettings;
  readonly provider: SecretProvider;
}

/**
 * Tries a provider and remembers it. A provider that does not work is not remembered. Without a word about the key of the
 * encrypted file it goes to the keyring, where there is one; else to a person who can be asked; else into a file.
 */
export async function chooseProvider(choice: SecretChoice, parts: SecretParts): Promise<ChosenProvider> {
  if (choice.key !== undefined && choice.provider !== 'encrypted') {
    throw new SallyError('usage.invalid', `${choice.provider} has no key that could be kept somewhere`, {
      hint: '--key belongs to the provider encrypted',
    });
  }
  const before = (await readSettings(parts.env)).secrets;
  const settings = choice.provider === 'encrypted' ? await withKey(choice, before, parts) : choice;
  const provider = openProvider(settings, parts);
  await tryOut(provider);
  await changeSettings(parts.env, { secrets: settings });
  return { settings, provider };
}

async function withKey(
  choice: SecretChoice,
  before: SecretSettings | undefined,
  { env, findKeyring = findSystemKeyring, askHidden }: SecretParts,
): Promise<SecretSettings> {
  const { provider } = choice;
  if (choice.key) return { provider, key: choice.key };
  if (before?.key) return { provider, key: before.key };
  if (env.SALLYPORT_SECRETS_PASSWORD_FILE || env.SALLYPORT_SECRETS_PASSWORD) return { provider, key: 'password' };
  const keyring = await findKeyring('sallyport').catch(() => undefined);
  return { provider, key: keyring ? 'keyring' : askHidden ? 'password' : 'file' };
}

/** Where we may write, a value goes in and comes out again; elsewhere a list is enough. */
async function tryOut(provider: SecretProvider): Promise<void> {
  if (!provider.canWrite) return void (await provider.list());
  const name = systemName('setup', 'probe', randomBytes(4).toString('hex'));
  await provider.set(name, new Secret('it works'));
  const back = await provider.get(name);
  await provider.delete(name);
  if (back?.reveal() === 'it works') return;
  throw new SallyError('secret.unavailable', `${provider.describe()} did not give back what was stored`, {
    hint: 'choose another provider',
  });
}
