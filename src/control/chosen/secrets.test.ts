import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { Secret } from '../../base/index.ts';
import type { FindKeyring } from '../../secrets/index.ts';
import { readSettings } from '../../settings/index.ts';
import { chooseProvider, openSecrets, type SecretParts } from './index.ts';

let home: string;
let env: Record<string, string>;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'sally-chosen-'));
  env = { SALLYPORT_HOME: home, SALLYPORT_SECRETS_PASSWORD: 'correct horse' };
});
afterEach(() => rm(home, { recursive: true }));

const none: FindKeyring = async () => {
  throw new Error('no keyring');
};
const parts = (more: Partial<SecretParts> = {}): SecretParts => ({
  env,
  findKeyring: none,
  cost: { N: 1024, r: 8, p: 1 },
  ...more,
});
const reveal = (found: Readonly<Record<string, Secret>>): Record<string, string> =>
  Object.fromEntries(Object.entries(found).map(([name, value]) => [name, value.reveal()]));

it('keeps secrets in the encrypted file until somebody chooses otherwise', async () => {
  const secrets = await openSecrets(parts());
  expect(secrets.choice).toEqual({ provider: 'encrypted' });
  await secrets.provider.set('a', new Secret('1'));
  expect((await (await openSecrets(parts())).find('a'))?.reveal()).toBe('1');
});

it('lets the environment win over the store, without opening it', async () => {
  await (await openSecrets(parts())).provider.set('a', new Secret('stored'));
  const locked = parts({ env: { SALLYPORT_HOME: home, SALLYPORT_SECRET_A: 'of this run' } });
  expect(reveal(await (await openSecrets(locked)).resolverFor('w')(['a,target=A']))).toEqual({ A: 'of this run' });
});

it('takes the provider that the environment names, and refuses one that there is not', async () => {
  env = { ...env, SALLYPORT_SECRETS_PROVIDER: 'environment', SALLYPORT_SECRET_B: '2' };
  expect(await (await openSecrets(parts())).provider.list()).toEqual(['B']);
  env = { ...env, SALLYPORT_SECRETS_PROVIDER: 'vault' };
  await expect(openSecrets(parts())).rejects.toThrow('SALLYPORT_SECRETS_PROVIDER: there is no provider "vault"');
});

it('finds again what was typed in for a workload, for that workload only', async () => {
  const secrets = await openSecrets(parts());
  const references = await secrets.keepFor('notes', { API_KEY: new Secret('typed') });
  expect(references).toEqual(['__sally_workload_notes/API_KEY,target=API_KEY']);
  expect(await secrets.keptFor('notes', 'API_KEY')).toBe(references[0]);
  expect(await secrets.keptFor('other', 'API_KEY')).toBeUndefined();
  expect(reveal(await secrets.resolverFor('notes')(references))).toEqual({ API_KEY: 'typed' });
  // A configuration that somebody else wrote must not carry our secrets to his server.
  await expect(secrets.resolverFor('other')(references)).rejects.toMatchObject({ code: 'usage.invalid' });
});

it('keeps our own names from people', async () => {
  const secrets = await openSecrets(parts());
  await secrets.keepFor('notes', { API_KEY: new Secret('typed') });
  expect(await secrets.provider.list()).toEqual([]);
  const name = '__sally_workload_notes/API_KEY';
  for (const touch of [
    () => secrets.provider.get(name),
    () => secrets.provider.set(name, new Secret('x')),
    () => secrets.provider.delete(name),
    () => secrets.find(name),
  ]) {
    await expect(touch()).rejects.toMatchObject({ code: 'usage.invalid' });
  }
});

it('forgets a workload without touching its namesakes', async () => {
  const secrets = await openSecrets(parts());
  await secrets.keepFor('notes', { A: new Secret('1'), B: new Secret('2') });
  await secrets.keepFor('notes2', { A: new Secret('3') });
  await secrets.forget('notes');
  expect(await secrets.keptFor('notes', 'A')).toBeUndefined();
  expect(await secrets.keptFor('notes2', 'A')).toBeDefined();
});

it('keeps our own values in the encrypted file where the provider takes none', async () => {
  env = { ...env, SALLYPORT_SECRETS_PROVIDER: 'environment' };
  const secrets = await openSecrets(parts());
  const references = await secrets.keepFor('notes', { API_KEY: new Secret('typed') });
  expect(reveal(await secrets.resolverFor('notes')(references))).toEqual({ API_KEY: 'typed' });
});

it('remembers a provider that works, and no other', async () => {
  await expect(chooseProvider({ provider: 'keyring' }, parts())).rejects.toThrow('no keyring');
  expect(await readSettings(env)).toEqual({});
  await chooseProvider({ provider: 'encrypted' }, parts());
  expect(await readSettings(env)).toEqual({ secrets: { provider: 'encrypted', key: 'password' } });
  expect(await (await openSecrets(parts())).provider.list()).toEqual([]); // the trial left nothing
  await expect(
    chooseProvider({ provider: 'encrypted' }, parts({ env: { ...env, SALLYPORT_SECRETS_PASSWORD: 'another one' } })),
  ).rejects.toMatchObject({
    code: 'secret.locked',
  });
});

it('makes a key file on a machine with neither keyring nor terminal', async () => {
  env = { SALLYPORT_HOME: home };
  const { settings } = await chooseProvider({ provider: 'encrypted' }, parts());
  expect(settings).toEqual({ provider: 'encrypted', key: 'file' });
  expect((await stat(join(home, 'data/secrets.key'))).mode & 0o777).toBe(0o600);
  // A random password cannot be guessed, so nobody has to wait for work against guessing.
  expect(await readFile(join(home, 'data/secrets.enc'), 'latin1')).toContain('"N":4096');
  await (await openSecrets(parts())).provider.set('a', new Secret('1'));
  expect((await (await openSecrets(parts())).find('a'))?.reveal()).toBe('1');
});

it('writes no value and no password into the configuration', async () => {
  await chooseProvider({ provider: 'encrypted' }, parts());
  await (await openSecrets(parts())).provider.set('notes-key', new Secret('hunter2'));
  const text = await readFile(join(home, 'config/config.yaml'), 'utf8');
  for (const secret of ['hunter2', 'correct horse', 'notes-key']) expect(text).not.toContain(secret);
});

it('refuses --key for a provider that has none', async () => {
  await expect(chooseProvider({ provider: 'environment', key: 'file' }, parts())).rejects.toMatchObject({
    code: 'usage.invalid',
  });
});
