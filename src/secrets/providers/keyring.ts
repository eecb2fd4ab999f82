import { SallyError, Secret } from '../../base/index.ts';
import type { SecretProvider } from './provider.ts';

/** The keyring of the operating system, as far as we use it: entries of one service, by account. */
export interface Keyring {
  get(account: string): Promise<string | undefined>;
  set(account: string, password: string): Promise<void>;
  delete(account: string): Promise<boolean>;
  accounts(): Promise<readonly string[]>;
}

/** Finds the keyring, or says why there is none. `service` keeps our kinds of entries apart. */
export type FindKeyring = (service: string) => Promise<Keyring>;

/** A locked keyring asks its owner first, who may have to fetch his glasses. */
const WITHIN = 60_000;

/**
 * Keychain, Credential Manager or Secret Service. On Linux the keyring of the kernel would step in where there is no Secret
 * Service, and forget everything at the next boot; so that one is never used.
 */
export const findSystemKeyring: FindKeyring = async (service) => {
  const { AsyncEntry, findCredentialsAsync } = await import('@napi-rs/keyring').catch((cause: unknown) => {
    throw unavailable('the package that speaks to it is not installed for this system', cause);
  });
  const entry = (account: string) => new AsyncEntry(service, account, { linux: { store: 'secret-service' } });
  const keyring: Keyring = {
    get: async (account) => (await within((signal) => entry(account).getPassword(signal))) ?? undefined,
    set: (account, password) => within((signal) => entry(account).setPassword(password, signal)),
    delete: (account) => within((signal) => entry(account).deleteCredential(signal)),
    accounts: async () => {
      const found = await within((signal) => findCredentialsAsync(service, undefined, signal));
      return found.map(({ account }) => account);
    },
  };
  await keyring.get('probe'); // a keyring that does not answer shows now, not at the first use
  return keyring;
};

async function within<T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(WITHIN);
  const late = Promise.withResolvers<never>();
  const onAbort = (): void => late.reject(new Error('it did not answer within a minute'));
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([ask(signal), late.promise]);
  } catch (cause) {
    throw unavailable('it does not answer', cause);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

function unavailable(why: string, cause: unknown): SallyError {
  return new SallyError('secret.unavailable', `the keyring of this system cannot be used: ${why}`, {
    cause,
    hint: 'unlock it, or choose `sally secret setup --provider encrypted --key file`, which needs none',
  });
}

/** One entry for each secret, so that the system can show and guard each. Some systems limit a value to 2,500 bytes. */
export function keyringProvider(find: FindKeyring): SecretProvider {
  let opened: Promise<Keyring> | undefined;
  const keyring = (): Promise<Keyring> => {
    opened ??= find('sallyport secrets');
    return opened;
  };
  return {
    kind: 'keyring',
    canWrite: true,
    describe: () => 'the keyring of this system, one entry for each secret',
    async get(name) {
      const value = await (await keyring()).get(name);
      return value === undefined ? undefined : new Secret(value);
    },
    set: async (name, value) => (await keyring()).set(name, value.reveal()),
    delete: async (name) => (await keyring()).delete(name),
    list: async () => (await (await keyring()).accounts()).toSorted(),
  };
}
