import { randomBytes } from 'node:crypto';
import { stat } from 'node:fs/promises';
import { replaceFile } from '../../base/files/index.ts';
import { SallyError, Secret } from '../../base/index.ts';
import { readSecretFile } from '../secret-file.ts';
import type { FindKeyring, Keyring } from './keyring.ts';

export interface Password {
  readonly value: Secret;
  /** Where it came from, for the error that says it is the wrong one. */
  readonly from: string;
  /** Made by us, too long for anybody to guess. */
  readonly random?: boolean;
}

/** The password of the encrypted file: to open it, or to make a new one. */
export interface PasswordSource {
  read(): Promise<Password>;
  create(): Promise<Password>;
}

/** Asks the person at the terminal without showing what is typed. */
export type AskHidden = (question: string) => Promise<string>;

export interface PasswordParts {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where the password is kept; found out when nobody chose. */
  readonly key?: 'keyring' | 'file' | 'password';
  readonly keyFile: string;
  readonly findKeyring: FindKeyring;
  /** Absent where nobody can be asked. */
  readonly askHidden?: AskHidden;
}

const SERVICE = 'sallyport';
const ACCOUNT = 'password of the encrypted file';
const SHORTEST = 8;

/**
 * The environment first, since whoever set it meant it: `SALLYPORT_SECRETS_PASSWORD_FILE`, `SALLYPORT_SECRETS_PASSWORD`.
 * Then the place that was chosen. When none was: a key file that is there, the keyring, the person.
 */
export function createPasswordSource(parts: PasswordParts): PasswordSource {
  const { key, keyFile, findKeyring, askHidden } = parts;
  return {
    async read() {
      const found = fromEnvironment(parts.env) ?? (await storedPassword(parts));
      if (found) return found;
      if ((key ?? 'password') !== 'password') throw noPassword(`there is none in ${placeOf(key, keyFile)}`);
      if (!askHidden) throw noPassword('nobody can be asked for it here');
      return { value: new Secret(await askHidden('Password of the secrets: ')), from: 'the terminal' };
    },
    async create() {
      const found = fromEnvironment(parts.env) ?? (await storedPassword(parts));
      if (found) return longEnough(found);
      if (key === 'file') return createKeyFile(keyFile);
      if (key === 'keyring') return createEntry(await findKeyring(SERVICE));
      const keyring = key === undefined ? await findKeyring(SERVICE).catch(() => undefined) : undefined;
      if (keyring) return createEntry(keyring);
      if (!askHidden) throw noPassword('this machine has no keyring, and nobody can be asked for a password');
      return longEnough(await askTwice(askHidden));
    },
  };
}

function fromEnvironment(env: PasswordParts['env']): Password | undefined {
  const file = env.SALLYPORT_SECRETS_PASSWORD_FILE;
  if (file) {
    const value = readSecretFile(file);
    if (!value) throw noPassword(`SALLYPORT_SECRETS_PASSWORD_FILE names ${file}, which is not there`);
    return { value, from: file };
  }
  const value = env.SALLYPORT_SECRETS_PASSWORD;
  return value ? { value: new Secret(value), from: 'SALLYPORT_SECRETS_PASSWORD' } : undefined;
}

async function storedPassword({ key, keyFile, findKeyring }: PasswordParts): Promise<Password | undefined> {
  if (key !== 'keyring' && key !== 'password') {
    const value = readSecretFile(keyFile);
    if (value) {
      await refuseShared(keyFile);
      return { value, from: keyFile };
    }
  }
  if (key === 'file' || key === 'password') return undefined;
  // A keyring that was chosen and fails is an error; one that was only looked for is not there.
  const keyring = await findKeyring(SERVICE).catch((error: unknown) => {
    if (key === 'keyring') throw error;
    return undefined;
  });
  const value = await keyring?.get(ACCOUNT);
  return value === undefined ? undefined : { value: new Secret(value), from: 'the keyring' };
}

async function createKeyFile(file: string): Promise<Password> {
  const value = randomPassword();
  await replaceFile(file, `${value}\n`);
  return { value: new Secret(value), from: file, random: true };
}

async function createEntry(keyring: Keyring): Promise<Password> {
  const value = randomPassword();
  await keyring.set(ACCOUNT, value);
  return { value: new Secret(value), from: 'the keyring', random: true };
}

function randomPassword(): string {
  return randomBytes(32).toString('base64url');
}

async function askTwice(ask: AskHidden): Promise<Password> {
  const first = await ask('New password for the secrets: ');
  if (first !== (await ask('The same once more: '))) {
    throw new SallyError('usage.invalid', 'the two passwords differ', { hint: 'try again' });
  }
  return { value: new Secret(first), from: 'the terminal' };
}

function longEnough(password: Password): Password {
  if (password.value.reveal().length >= SHORTEST) return password;
  throw new SallyError('usage.invalid', `the password from ${password.from} has fewer than ${SHORTEST} characters`, {
    hint: 'take a longer one: whoever gets the file can try as many as he likes',
  });
}

/** Like ssh with its keys: one that others can read is no key. */
async function refuseShared(file: string): Promise<void> {
  if (process.platform === 'win32' || ((await stat(file)).mode & 0o077) === 0) return;
  throw noPassword(`others can read ${file}`, `run: chmod 600 ${file}`);
}

function placeOf(key: PasswordParts['key'], keyFile: string): string {
  return key === 'file' ? keyFile : 'the keyring';
}

function noPassword(why: string, hint?: string): SallyError {
  return new SallyError('secret.locked', `there is no password for the encrypted file of secrets: ${why}`, {
    hint:
      hint ??
      'name a file with it in SALLYPORT_SECRETS_PASSWORD_FILE; for a new store `sally secret setup --key file` makes one',
  });
}
