import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret } from '../../base/index.ts';
import { environmentProvider, secretVariable } from './environment.ts';
import { findSystemKeyring, keyringProvider } from './keyring.ts';
import { onePasswordProvider } from './one-password.ts';

describe('the environment', () => {
  const env = {
    SALLYPORT_SECRET_NOTES_API_KEY: 'k',
    SALLYPORT_SECRET_EMPTY: '',
    SALLYPORT_SECRET___SALLY_AUTH_X: 'no',
    OTHER: 'x',
  };
  const provider = environmentProvider(env);

  it('has a variable for each name that a shell can set', async () => {
    expect(secretVariable('notes-api.key')).toBe('SALLYPORT_SECRET_NOTES_API_KEY');
    expect((await provider.get('notes-api.key'))?.reveal()).toBe('k');
    expect((await provider.get('empty'))?.reveal()).toBe('');
    expect(await provider.get('constructor')).toBeUndefined();
  });

  it('lists names under which the values are found, and none of ours', async () => {
    expect(await provider.list()).toEqual(['EMPTY', 'NOTES_API_KEY']);
    expect(await provider.get('__sally_auth_x')).toBeUndefined();
  });

  it('takes nothing', async () => {
    await expect(provider.set('a', new Secret('1'))).rejects.toMatchObject({ code: 'secret.read_only' });
    await expect(provider.delete('a')).rejects.toMatchObject({ code: 'secret.read_only' });
  });
});

describe('the keyring', () => {
  it('has one entry for each secret', async () => {
    const entries = new Map<string, string>();
    const provider = keyringProvider(async () => ({
      get: async (account) => entries.get(account),
      set: async (account, password) => void entries.set(account, password),
      delete: async (account) => entries.delete(account),
      accounts: async () => [...entries.keys()],
    }));
    await provider.set('b', new Secret('2'));
    await provider.set('a', new Secret('1'));
    expect(await provider.list()).toEqual(['a', 'b']);
    expect((await provider.get('b'))?.reveal()).toBe('2');
    expect([await provider.delete('b'), await provider.delete('b')]).toEqual([true, false]);
    expect(await provider.get('b')).toBeUndefined();
  });

  it('says so, soon, on a machine that has none', async () => {
    const before = process.env.DBUS_SESSION_BUS_ADDRESS;
    process.env.DBUS_SESSION_BUS_ADDRESS = 'unix:path=/nowhere/bus';
    try {
      await expect(findSystemKeyring('sallyport test')).rejects.toMatchObject({
        code: 'secret.unavailable',
        hint: expect.stringContaining('sally secret setup --provider encrypted --key file'),
      });
    } finally {
      if (before === undefined) delete process.env.DBUS_SESSION_BUS_ADDRESS;
      else process.env.DBUS_SESSION_BUS_ADDRESS = before;
    }
  });
});

describe('1Password', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'sally-op-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  /** Stands in for the `op` program: notes how it was called and answers as the script says. */
  async function op(script: string): Promise<Record<string, string>> {
    const file = join(folder, 'op');
    await writeFile(file, `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/argv'\nenv > '${folder}/env'\n${script}\n`);
    await chmod(file, 0o755);
    return {
      PATH: `${folder}${delimiter}${process.env.PATH}`,
      HOME: folder,
      OP_SERVICE_ACCOUNT_TOKEN: 'ops_x',
      SALLYPORT_SECRET_A: 'other',
    };
  }

  it('reads a reference as one word, without a shell', async () => {
    const env = await op("printf 'hunter2'");
    const name = 'op://My Vault/$(touch hacked); item/field';
    expect((await onePasswordProvider({ env }).get(name))?.reveal()).toBe('hunter2');
    expect(await readFile(join(folder, 'argv'), 'utf8')).toBe(`read\n--no-newline\n--\n${name}\n`);
  });

  it('gives op its token and none of our secrets', async () => {
    const env = await op("printf 'x'");
    await onePasswordProvider({ env }).get('op://v/i/f');
    const seen = await readFile(join(folder, 'env'), 'utf8');
    expect(seen).toContain('OP_SERVICE_ACCOUNT_TOKEN=ops_x');
    expect(seen).not.toContain('SALLYPORT_SECRET_A');
  });

  it('does not ask for what is no reference', async () => {
    const provider = onePasswordProvider({ env: await op('exit 3') });
    expect(await provider.get('notes-key')).toBeUndefined();
    await expect(readFile(join(folder, 'argv'))).rejects.toThrow('ENOENT');
  });

  it('finds nothing where op finds nothing', async () => {
    const env = await op(`echo '[ERROR] "Gone" isn'"'"'t an item in the "v" vault.' >&2; exit 1`);
    expect(await onePasswordProvider({ env }).get('op://v/Gone/f')).toBeUndefined();
  });

  it('lists items by name, from what op says of them', async () => {
    const items = [
      { title: 'GitHub', vault: { name: 'Private' } },
      { title: 7 },
      null,
      { title: 'A', vault: { name: 'Private' } },
    ];
    const provider = onePasswordProvider({ env: await op(`echo '${JSON.stringify(items)}'`) });
    expect(await provider.list()).toEqual(['op://Private/A', 'op://Private/GitHub']);
  });

  it.each([
    ['refuses', 'printf "\\033[31m not signed in\\n" >&2; exit 1', 'op says: \\u001b[31m not signed in', 'op signin'],
    ['hangs', 'exec sleep 30', 'op did not answer in time', 'op signin'],
  ])('says what to do when op %s', async (_, script, says, hint) => {
    const provider = onePasswordProvider({ env: await op(script), within: 300 });
    await expect(provider.get('op://v/i/f')).rejects.toMatchObject({
      code: 'secret.unavailable',
      message: expect.stringContaining(says),
      hint: expect.stringContaining(hint),
    });
  });

  it('says how to get op where it is not', async () => {
    await expect(onePasswordProvider({ env: { PATH: folder } }).list()).rejects.toMatchObject({
      code: 'secret.unavailable',
      hint: expect.stringContaining('install the 1Password CLI'),
    });
  });

  it('takes nothing', async () => {
    await expect(onePasswordProvider({ env: {} }).set('op://v/i/f', new Secret('1'))).rejects.toMatchObject({
      code: 'secret.read_only',
    });
  });
});
