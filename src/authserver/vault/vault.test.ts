import { describe, expect, it } from 'vitest';
import { Secret } from '../../base/index.ts';
import { createServerSecrets } from '../secrets.ts';
import { createMemoryStore } from '../storage/memory.ts';
import { createRecords } from '../storage/records.ts';
import { createVault, type VaultEntry } from './vault.ts';

const OWNER = { clientId: 'client', userId: 'user' };
const ENTRY: VaultEntry = {
  subject: 'alice',
  accessToken: new Secret('the access token'),
  refreshToken: new Secret('the refresh token'),
  idToken: new Secret('the id token'),
  expiresAt: 1_900_000_000,
  renewAt: 1_899_999_940,
  scopes: ['openid'],
  source: { issuer: 'https://corp.test', tokenEndpoint: 'https://corp.test/token' },
};

function start() {
  let now = 0;
  const store = createMemoryStore({ now: () => now });
  const vault = createVault(createRecords(store, createServerSecrets('a/b', [Buffer.alloc(32, 7)])), () => now);
  return { vault, store, wait: (seconds: number) => (now += seconds * 1000) };
}

describe('the vault', () => {
  it('gives the owner of a complete login what its providers gave', async () => {
    const { vault } = start();
    const entries = vault.of('grant');
    await entries.deposit('corp', ENTRY, 60);
    await entries.settle(['corp'], OWNER, 600);
    const found = await entries.find('corp', OWNER);
    expect(found?.entry).toEqual({ ...ENTRY, connectedAt: 0 });
    expect(found?.entry.accessToken.reveal()).toBe('the access token');
    expect(found?.entry.refreshToken?.reveal()).toBe('the refresh token');
    expect(found?.entry.idToken?.reveal()).toBe('the id token');
  });

  it('gives nothing of a login that is still under way', async () => {
    const { vault } = start();
    await vault.of('grant').deposit('corp', ENTRY, 60);
    expect(await vault.of('grant').find('corp', OWNER)).toBeUndefined();
  });

  it.each([
    ['another client', 'grant', 'corp', { ...OWNER, clientId: 'other' }],
    ['another user', 'grant', 'corp', { ...OWNER, userId: 'other' }],
    ['another grant', 'other', 'corp', OWNER],
    ['another provider', 'grant', 'other', OWNER],
    ['names that run together', 'grant","corp', '', OWNER],
  ])('gives nothing to %s', async (_who, grant, provider, owner) => {
    const { vault } = start();
    await vault.of('grant').deposit('corp', ENTRY, 60);
    await vault.of('grant').settle(['corp'], OWNER, 600);
    expect(await vault.of(grant).find(provider, owner)).toBeUndefined();
  });

  it('lets an entry be taken out by its owner, once, and leaves the others', async () => {
    const { vault } = start();
    const entries = vault.of('grant');
    for (const provider of ['corp', 'hub']) await entries.deposit(provider, ENTRY, 60);
    await entries.settle(['corp', 'hub'], OWNER, 600);
    expect(await entries.release('corp', { ...OWNER, userId: 'other' })).toBeUndefined();
    expect((await entries.release('corp', OWNER))?.refreshToken?.reveal()).toBe('the refresh token');
    expect(await entries.release('corp', OWNER)).toBeUndefined();
    expect(await entries.find('corp', OWNER)).toBeUndefined();
    expect(await entries.find('hub', OWNER)).toBeDefined();
  });

  it('remembers when it was connected, and when another access token came', async () => {
    const { vault, wait } = start();
    const entries = vault.of('grant');
    const change = async (entry: Partial<VaultEntry>): Promise<void> => {
      const found = await entries.find('corp', OWNER);
      if (found) await entries.replace(OWNER, found, { ...found.entry, ...entry });
    };
    await entries.deposit('corp', ENTRY, 60);
    await entries.settle(['corp'], OWNER, 600);
    wait(10);
    await change({ refreshToken: new Secret('another') });
    expect((await entries.find('corp', OWNER))?.entry).toMatchObject({ connectedAt: 0 });
    expect((await entries.find('corp', OWNER))?.entry.renewedAt).toBeUndefined();
    await change({ accessToken: new Secret('another') });
    expect((await entries.find('corp', OWNER))?.entry).toMatchObject({ connectedAt: 0, renewedAt: 10 });
  });

  it('keeps a token until the grant ends once the login is complete, and only for a while before', async () => {
    const { vault, wait } = start();
    await vault.of('complete').deposit('corp', ENTRY, 60);
    await vault.of('complete').settle(['corp'], OWNER, 600);
    await vault.of('abandoned').deposit('corp', ENTRY, 60);
    wait(61);
    expect(await vault.of('complete').find('corp', OWNER)).toBeDefined();
    await expect(vault.of('abandoned').settle(['corp'], OWNER, 600)).rejects.toThrow(/gone/);
    wait(600);
    expect(await vault.of('complete').find('corp', OWNER)).toBeUndefined();
  });

  it('replaces an entry for one of several who refreshed it', async () => {
    const { vault } = start();
    const entries = vault.of('grant');
    await entries.deposit('corp', ENTRY, 60);
    await entries.settle(['corp'], OWNER, 600);
    const found = await entries.find('corp', OWNER);
    if (!found) throw new Error('nothing found');
    const fresh = { ...ENTRY, accessToken: new Secret('a newer one') };
    expect(await entries.replace(OWNER, found, fresh)).toBe(true);
    expect(await entries.replace(OWNER, found, ENTRY)).toBe(false);
    expect((await entries.find('corp', OWNER))?.entry.accessToken.reveal()).toBe('a newer one');
  });

  it('does not keep a token longer than the grant because it was renewed', async () => {
    const { vault, wait } = start();
    const entries = vault.of('grant');
    await entries.deposit('corp', ENTRY, 60);
    await entries.settle(['corp'], OWNER, 600);
    wait(500);
    const found = await entries.find('corp', OWNER);
    if (!found) throw new Error('nothing found');
    await entries.replace(OWNER, found, { ...ENTRY, accessToken: new Secret('a newer one') });
    wait(99);
    expect(await entries.find('corp', OWNER)).toBeDefined();
    wait(2);
    expect(await entries.find('corp', OWNER)).toBeUndefined();
  });

  it('gives who ends a grant what its providers have to be told', async () => {
    const { vault } = start();
    await vault.of('grant').deposit('corp', ENTRY, 60);
    const surrendered = await vault.of('grant').surrender(['corp', 'hub']);
    expect([...surrendered.keys()]).toEqual(['corp']);
    expect(await vault.of('other').surrender(['corp'])).toEqual(new Map());
  });

  it('forgets everything of a grant at once, and nothing of another', async () => {
    const { vault } = start();
    const providers = ['corp', 'hub'];
    for (const grant of ['one', 'two']) {
      for (const provider of providers) await vault.of(grant).deposit(provider, ENTRY, 60);
      await vault.of(grant).settle(providers, OWNER, 600);
    }
    await vault.of('one').clear();
    for (const provider of providers) {
      expect(await vault.of('one').find(provider, OWNER)).toBeUndefined();
      expect(await vault.of('two').find(provider, OWNER)).toBeDefined();
    }
  });

  it('stores nothing that can be read without the secret', async () => {
    const { vault, store } = start();
    const written: string[] = [];
    const set = store.set.bind(store);
    store.set = (key, value, ttl) => {
      written.push(key, value);
      return set(key, value, ttl);
    };
    await vault.of('grant').deposit('corp', ENTRY, 60);
    expect(written).toHaveLength(2);
    for (const word of ['token', 'alice', 'grant', 'corp.test']) {
      const shown = written.map((text, index) => (index === 0 ? text.slice(text.indexOf(':')) : text)).join();
      expect(shown).not.toContain(word);
    }
  });
});
