import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { FindKeyring } from './keyring.ts';
import { createPasswordSource, type PasswordParts, type PasswordSource } from './password.ts';

let folder: string;
let keyFile: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sally-password-'));
  keyFile = join(folder, 'secrets.key');
});
afterEach(() => rm(folder, { recursive: true }));

const none: FindKeyring = async () => {
  throw new Error('no keyring');
};

/** Stands in for the keyring of a desktop, which this machine does not have. */
function keyring(entries = new Map<string, string>()): FindKeyring {
  return async (service) => ({
    get: async (account) => entries.get(`${service}/${account}`),
    set: async (account, password) => void entries.set(`${service}/${account}`, password),
    delete: async (account) => entries.delete(`${service}/${account}`),
    accounts: async () => [...entries.keys()],
  });
}

function source(parts: Partial<PasswordParts> = {}): PasswordSource {
  return createPasswordSource({ env: {}, keyFile, findKeyring: none, ...parts });
}

const reveal = async (password: ReturnType<PasswordSource['read']>): Promise<string> => (await password).value.reveal();

it('takes the file that the environment names, then the variable, before everything else', async () => {
  await writeFile(join(folder, 'pw'), 'from the file\n');
  await writeFile(keyFile, 'from the key file', { mode: 0o600 });
  const env = { SALLYPORT_SECRETS_PASSWORD_FILE: join(folder, 'pw'), SALLYPORT_SECRETS_PASSWORD: 'from the variable' };
  expect(await reveal(source({ env }).read())).toBe('from the file');
  expect(await reveal(source({ env: { SALLYPORT_SECRETS_PASSWORD: 'from the variable' } }).read())).toBe(
    'from the variable',
  );
  expect(await reveal(source().read())).toBe('from the key file');
});

it('does not go on to another place when the file of the environment is not there', async () => {
  const env = { SALLYPORT_SECRETS_PASSWORD_FILE: join(folder, 'gone'), SALLYPORT_SECRETS_PASSWORD: 'no' };
  await expect(source({ env }).read()).rejects.toMatchObject({
    code: 'secret.locked',
    message: expect.stringContaining('gone'),
  });
});

it('makes a random key file that only its owner can read, and uses it again', async () => {
  const made = await reveal(source({ key: 'file' }).create());
  expect(made).toMatch(/^[\w-]{43}$/);
  expect((await stat(keyFile)).mode & 0o777).toBe(0o600);
  expect(await readFile(keyFile, 'utf8')).toBe(`${made}\n`);
  expect(await reveal(source({ key: 'file' }).read())).toBe(made);
  expect(await reveal(source({ key: 'file' }).create())).toBe(made);
});

it('refuses a key file that others can read', async () => {
  await source({ key: 'file' }).create();
  await chmod(keyFile, 0o644);
  await expect(source({ key: 'file' }).read()).rejects.toMatchObject({
    code: 'secret.locked',
    hint: expect.stringContaining('chmod 600'),
  });
});

it('puts a random password into the keyring where there is one, and finds it again', async () => {
  const entries = new Map<string, string>();
  const made = await reveal(source({ findKeyring: keyring(entries) }).create());
  expect([...entries.values()]).toEqual([made]);
  expect(await reveal(source({ findKeyring: keyring(entries) }).read())).toBe(made);
  expect(await reveal(source({ findKeyring: keyring(entries) }).create())).toBe(made); // an old store may still need it
});

it('asks a person twice for a new password, once for a known one', async () => {
  const asked: string[] = [];
  const askHidden = async (question: string): Promise<string> => {
    asked.push(question);
    return 'long enough';
  };
  expect(await reveal(source({ askHidden }).create())).toBe('long enough');
  expect(asked).toHaveLength(2);
  expect(await reveal(source({ askHidden }).read())).toBe('long enough');
  expect(asked).toHaveLength(3);
});

it('refuses two different answers, and a short password from wherever it comes', async () => {
  let count = 0;
  await expect(source({ askHidden: async () => `password ${count++}` }).create()).rejects.toThrow('differ');
  await expect(source({ askHidden: async () => 'short' }).create()).rejects.toThrow('fewer than 8');
  await expect(source({ env: { SALLYPORT_SECRETS_PASSWORD: 'short' } }).create()).rejects.toThrow('fewer than 8');
});

it('says what to do where there is no keyring and nobody to ask', async () => {
  for (const wanted of [source().read(), source().create(), source({ key: 'password' }).read()]) {
    await expect(wanted).rejects.toMatchObject({
      code: 'secret.locked',
      hint: expect.stringContaining('SALLYPORT_SECRETS_PASSWORD_FILE'),
    });
  }
});

it('does not ask a person when the place that was chosen has lost the password', async () => {
  const askHidden = async (): Promise<string> => 'long enough';
  await expect(source({ key: 'file', askHidden }).read()).rejects.toThrow(`there is none in ${keyFile}`);
  await expect(source({ key: 'keyring', findKeyring: keyring(), askHidden }).read()).rejects.toThrow(
    'none in the keyring',
  );
  await expect(source({ key: 'keyring', askHidden }).read()).rejects.toThrow('no keyring');
});
