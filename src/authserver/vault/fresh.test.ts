import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SallyError, Secret, silentLog } from '../../base/index.ts';
import { type Refreshed, type Renewable, type Upstream, UpstreamError } from '../../oauth/upstream/index.ts';
import { createServerSecrets } from '../secrets.ts';
import { createMemoryLocks } from '../storage/locks.ts';
import { createMemoryStore } from '../storage/memory.ts';
import { createRecords } from '../storage/records.ts';
import { createFreshTokens, type FreshTokens } from './fresh.ts';
import { createVault, type VaultEntry } from './vault.ts';

const OWNER = { clientId: 'client', userId: 'alice' };
const CALLER = { grant: 'grant', clientId: 'client', subject: 'alice' };
const SOURCE = { issuer: 'https://corp.test', tokenEndpoint: 'https://corp.test/token' };
const START = 1_800_000_000;

/** A provider that rotates: each refresh token works once, and whoever shows one again is found out. */
function startProvider() {
  const presented: string[] = [];
  let count = 1;
  const provider = {
    presented,
    /** What happens instead of the next answers. */
    fails: undefined as (() => Promise<never>) | undefined,
    slow: 0,
    check: undefined as (() => Promise<Secret>) | undefined,
    rotates: true,
    /** Seconds. */
    lives: 3600,
    issuer: SOURCE.issuer,
    async refresh({ refreshToken }: Renewable): Promise<Refreshed> {
      presented.push(refreshToken.reveal());
      await sleep(provider.slow);
      if (provider.fails) return await provider.fails();
      count += 1;
      const { check } = provider;
      return { tokens: tokensNumber(count, provider.rotates, provider.lives), ...(check ? { check } : {}) };
    },
    issued: ({ issuer }: { readonly issuer?: string }) => issuer === provider.issuer,
  };
  return provider;
}

let clock = START;

function tokensNumber(number: number, rotates = true, lives = 3600): Omit<VaultEntry, 'subject'> {
  return {
    accessToken: new Secret(`access ${number}`),
    ...(rotates ? { refreshToken: new Secret(`refresh ${number}`) } : {}),
    expiresAt: clock + lives,
    renewAt: clock + lives - Math.min(60, lives / 10),
    scopes: ['openid'],
    source: SOURCE,
  };
}

async function start() {
  clock = START;
  const now = (): number => clock * 1000;
  const store = createMemoryStore({ now });
  const records = createRecords(store, createServerSecrets('a/b', [Buffer.alloc(32, 7)]));
  const vault = createVault(records, now);
  const locks = createMemoryLocks(now);
  const provider = startProvider();
  const orphans: string[] = [];
  const process = (): FreshTokens =>
    createFreshTokens({
      vault,
      upstreams: new Map([['corp', provider as unknown as Upstream]]),
      locks,
      lockNames: (grantId, name) => [JSON.stringify([grantId, name])],
      orphaned: (_provider, { refreshToken }) => orphans.push(refreshToken?.reveal() ?? ''),
      log: silentLog,
      now,
    });
  const entries = vault.of('grant');
  await entries.deposit('corp', { ...tokensNumber(1), subject: 'alice at corp' }, 60);
  await entries.settle(['corp'], OWNER, 86_400);
  const fresh = process();
  return {
    store,
    vault,
    locks,
    provider,
    process,
    orphans,
    fresh,
    wait: (seconds: number) => (clock += seconds),
    token: async (refused?: string, from = fresh) =>
      (await from.accessToken(CALLER, 'corp', refused === undefined ? undefined : new Secret(refused))).reveal(),
    kept: async () => (await entries.find('corp', OWNER))?.entry,
  };
}

const refused = (oauthCode?: string) => async (): Promise<never> => {
  throw new UpstreamError('upstream.refused', 'corp', 'refused', { oauthCode });
};
const away = async (): Promise<never> => {
  throw new UpstreamError('upstream.unavailable', 'corp', 'away');
};

describe('an upstream token', () => {
  it('is given as it is while it is good, and at once the second time', async () => {
    const { fresh, provider, token } = await start();
    expect(await token()).toBe('access 1');
    expect(fresh.accessToken(CALLER, 'corp', undefined)).toBeInstanceOf(Secret);
    expect(provider.presented).toEqual([]);
  });

  it('is looked up again after something was taken out of the vault, whoever was looking at that moment', async () => {
    const { fresh, token, vault, store } = await start();
    const entries = vault.of('grant');
    expect(await token()).toBe('access 1');
    await entries.release('corp', OWNER);
    fresh.forget();
    await expect(token()).rejects.toMatchObject({ code: 'outgoing.login_needed' });

    await entries.deposit('corp', { ...tokensNumber(2), subject: 'alice at corp' }, 60);
    await entries.settle(['corp'], OWNER, 86_400);
    const { get } = store;
    let answer = (): void => {};
    const slow = new Promise<void>((resolve) => {
      answer = resolve;
    });
    Object.assign(store, {
      async get(key: string) {
        const value = await get(key);
        await slow;
        return value;
      },
    });
    const underway = token();
    await sleep(10); // the store has looked, and its answer is on the way
    Object.assign(store, { get });
    await entries.release('corp', OWNER);
    fresh.forget();
    answer();
    expect(await underway).toBe('access 2'); // he asked before
    await expect(token()).rejects.toMatchObject({ code: 'outgoing.login_needed' });
  });

  it.each([
    ['nobody', { ...CALLER, grant: undefined }],
    ['a caller without a client', { ...CALLER, clientId: undefined }],
  ])('is not given to %s', async (_who, caller) => {
    const { fresh } = await start();
    const ask = () => fresh.accessToken(caller as never, 'corp', undefined);
    expect(ask).toThrow(expect.objectContaining({ code: 'outgoing.login_needed' }));
  });

  it.each([
    ['another user', { ...CALLER, subject: 'bob' }],
    ['another client', { ...CALLER, clientId: 'other' }],
    ['another login', { ...CALLER, grant: 'other' }],
  ])('is not given to %s', async (_who, caller) => {
    const { fresh, token } = await start();
    await token();
    await expect(fresh.accessToken(caller, 'corp', undefined)).rejects.toMatchObject({
      code: 'outgoing.login_needed',
      data: { provider: 'corp' },
    });
  });

  it('is not given when the provider of that name is at another place now (row 38)', async () => {
    const { provider, token } = await start();
    provider.issuer = 'https://evil.test';
    await expect(token()).rejects.toMatchObject({ code: 'outgoing.login_needed' });
    expect(provider.presented).toEqual([]);
  });

  it('is renewed ahead of its end, while callers go on with the old one', async () => {
    const { provider, token, wait, kept } = await start();
    wait(3550);
    expect(await token()).toBe('access 1');
    await sleep(10);
    wait(2);
    expect(await token()).toBe('access 2');
    expect(provider.presented).toEqual(['refresh 1']);
    expect((await kept())?.refreshToken?.reveal()).toBe('refresh 2');
  });

  it('that has ended is renewed before it is given', async () => {
    const { token, wait } = await start();
    wait(3601);
    expect(await token()).toBe('access 2');
  });

  it('keeps its refresh token where the provider does not rotate', async () => {
    const { provider, token, wait, kept } = await start();
    provider.rotates = false;
    wait(3601);
    expect(await token()).toBe('access 2');
    expect((await kept())?.refreshToken?.reveal()).toBe('refresh 1');
  });

  it('is renewed once for all who need it, in all processes', async () => {
    const { provider, token, wait, process } = await start();
    provider.slow = 150;
    const others = [process(), process(), process()];
    wait(3601);
    const asked = others.flatMap((one) => Array.from({ length: 50 }, () => token(undefined, one)));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['access 2']));
    expect(provider.presented).toEqual(['refresh 1']);
  });

  it('that a server refused is renewed, once for all who were refused', async () => {
    const { provider, token } = await start();
    await token();
    const asked = Array.from({ length: 20 }, () => token('access 1'));
    expect(new Set(await Promise.all(asked))).toEqual(new Set(['access 2']));
    expect(provider.presented).toEqual(['refresh 1']);
    expect(await token()).toBe('access 2');
  });

  it('that was refused and has been replaced meanwhile is not renewed again', async () => {
    const { provider, token, process } = await start();
    await token();
    expect(await token('access 1', process())).toBe('access 2');
    expect(await token('access 1')).toBe('access 2');
    expect(provider.presented).toEqual(['refresh 1']);
  });

  it('that was refused and whose successor has ended too is renewed', async () => {
    const { token, process, wait } = await start();
    await token();
    expect(await token('access 1', process())).toBe('access 2');
    wait(3601);
    expect(await token('access 1')).toBe('access 3');
  });

  it('that was refused although it is new is not renewed over and over', async () => {
    const { provider, token } = await start();
    expect(await token('access 1')).toBe('access 2');
    expect(await token('access 2')).toBe('access 2');
    expect(provider.presented).toEqual(['refresh 1']);
  });

  it('that does not live long is renewed again when it is refused in the second half of its life', async () => {
    const { provider, token, wait } = await start();
    provider.lives = 4;
    expect(await token('access 1')).toBe('access 2');
    wait(1);
    expect(await token('access 2')).toBe('access 2');
    wait(2);
    expect(await token('access 2')).toBe('access 3');
  });

  it('without a refresh token is used to its end, and then a login is needed', async () => {
    const { vault, token, wait, provider } = await start();
    const { refreshToken: _none, ...rest } = tokensNumber(9);
    await vault.of('flow').deposit('corp', { ...rest, subject: 'alice at corp' }, 60);
    await vault.of('flow').handOver('corp', 'grant', OWNER, 86_400);
    wait(3550);
    expect(await token()).toBe('access 9');
    wait(60);
    await expect(token()).rejects.toMatchObject({ code: 'outgoing.login_needed' });
    expect(provider.presented).toEqual([]);
  });
});

describe('a provider that does not renew', () => {
  it.each(['invalid_grant', 'bad_refresh_token', 'token_revoked'])(
    'for good (%s) makes a login needed',
    async (code) => {
      const { provider, token, wait } = await start();
      provider.fails = refused(code);
      wait(3601);
      await expect(token()).rejects.toMatchObject({ code: 'outgoing.login_needed', data: { provider: 'corp' } });
      provider.fails = undefined;
      await expect(token()).rejects.toMatchObject({ code: 'outgoing.login_needed' });
      expect(provider.presented).toEqual(['refresh 1']);
    },
  );

  it('for good, ahead of the end, is not asked again, and the token is used to its end', async () => {
    const { provider, token, wait } = await start();
    provider.fails = refused('invalid_grant');
    wait(3550);
    for (let call = 0; call < 5; call++) {
      expect(await token()).toBe('access 1');
      await sleep(5);
      wait(2);
    }
    wait(60);
    await expect(token()).rejects.toMatchObject({ code: 'outgoing.login_needed' });
    expect(provider.presented).toEqual(['refresh 1']);
  });

  it('for good gives way to a login that was made meanwhile', async () => {
    const { provider, token, wait, vault, kept } = await start();
    provider.fails = async () => {
      await vault.of('flow').deposit('corp', { ...tokensNumber(9), subject: 'alice at corp' }, 60);
      await vault.of('flow').handOver('corp', 'grant', OWNER, 86_400);
      return await refused('invalid_grant')();
    };
    wait(3601);
    expect(await token()).toBe('access 9');
    expect((await kept())?.refreshToken?.reveal()).toBe('refresh 9');
  });

  it.each([
    ['is away', away],
    ['takes us for a stranger', refused('invalid_client')],
    ['refuses without a word', refused(undefined)],
    ['says something that is no word', refused('unknown')],
  ])('because it %s keeps the login', async (_why, failure) => {
    const { provider, token, wait, process, kept } = await start();
    provider.fails = failure;
    wait(3601);
    await expect(token()).rejects.toMatchObject({ code: 'outgoing.unavailable' });
    expect((await kept())?.refreshToken?.reveal()).toBe('refresh 1');
    provider.fails = undefined;
    expect(await token(undefined, process())).toBe('access 2');
  });

  it('for a moment is not asked by every call', async () => {
    const { provider, token, wait } = await start();
    provider.fails = away;
    wait(3601);
    for (let call = 0; call < 5; call++) {
      await expect(token()).rejects.toMatchObject({ code: 'outgoing.unavailable' });
    }
    expect(provider.presented).toHaveLength(1);
  });

  it('ahead of the end costs nobody his call', async () => {
    const { provider, token, wait } = await start();
    provider.fails = away;
    wait(3550);
    expect(await token()).toBe('access 1');
  });
});

describe('what a refresh brings', () => {
  it('is stored before its ID token is looked at, and not used before that', async () => {
    const { provider, token, wait, kept, process } = await start();
    const looking = Promise.withResolvers<Secret>();
    provider.check = () => looking.promise;
    wait(3601);
    const asked = token();
    await sleep(20);
    const meanwhile = await kept();
    expect(meanwhile?.refreshToken?.reveal()).toBe('refresh 2');
    expect(meanwhile?.accessToken.reveal()).toBe('access 1');
    // Nobody else renews it meanwhile.
    const elsewhere = token(undefined, process());
    await sleep(150);
    expect(provider.presented).toEqual(['refresh 1']);
    looking.resolve(new Secret('the id token'));
    expect(await asked).toBe('access 2');
    expect(await elsewhere).toBe('access 2');
    expect((await kept())?.idToken?.reveal()).toBe('the id token');
  });

  it('keeps the login when its ID token is about somebody else, and the access token with it is not used', async () => {
    const { provider, token, wait, kept, process } = await start();
    provider.check = async () => {
      throw new UpstreamError('upstream.answer_invalid', 'corp', 'about another user');
    };
    wait(3601);
    await expect(token()).rejects.toMatchObject({ code: 'outgoing.unavailable' });
    expect((await kept())?.refreshToken?.reveal()).toBe('refresh 2');
    provider.check = undefined;
    expect(await token(undefined, process())).toBe('access 3');
    expect(provider.presented).toEqual(['refresh 1', 'refresh 2']);
  });

  it('is kept in memory while the store is away, used, and stored when it is back', async () => {
    const { provider, token, wait, store, kept, fresh } = await start();
    const swap = store.swap.bind(store);
    store.swap = async () => {
      throw new SallyError('storage.unavailable', 'away');
    };
    wait(3601);
    expect(await token()).toBe('access 2');
    wait(31);
    expect(await token()).toBe('access 2');
    expect((await kept())?.refreshToken?.reveal()).toBe('refresh 1');
    store.swap = swap;
    await fresh.close();
    expect((await kept())?.refreshToken?.reveal()).toBe('refresh 2');
    expect(provider.presented).toEqual(['refresh 1']);
  });

  it('cannot be asked for by another process while it waits to be stored', async () => {
    const { provider, token, wait, store, process } = await start();
    const swap = store.swap.bind(store);
    store.swap = async () => {
      throw new SallyError('storage.unavailable', 'away');
    };
    wait(3601);
    expect(await token()).toBe('access 2');
    store.swap = swap;
    expect(await token(undefined, process())).toBe('access 2');
    expect(provider.presented).toEqual(['refresh 1']);
  });

  it.each([
    ['ended', 5],
    ['was about to end', 3.8],
  ])('is not given when it %s while it was being stored: another one is', async (_what, seconds) => {
    const { provider, token, wait, store } = await start();
    const swap = store.swap.bind(store);
    store.swap = async (...row) => {
      wait(seconds);
      store.swap = swap;
      return await swap(...row);
    };
    provider.lives = 4;
    wait(3601);
    expect(await token()).toBe('access 3');
    expect(provider.presented).toEqual(['refresh 1', 'refresh 2']);
  });

  it('is not given when it ended before a process that waited for it could see it', async () => {
    const { provider, token, wait, store, process } = await start();
    const swap = store.swap.bind(store);
    const storing = Promise.withResolvers<void>();
    store.swap = async (...row) => {
      await storing.promise;
      return await swap(...row);
    };
    provider.lives = 4;
    wait(3601);
    const first = token();
    await sleep(10);
    const second = token(undefined, process());
    await sleep(10);
    wait(5);
    storing.resolve();
    expect(await Promise.all([first, second])).toEqual(['access 3', 'access 3']);
    expect(provider.presented).toEqual(['refresh 1', 'refresh 2']);
  });

  it('is good for nobody when it cannot be stored within its life, and the login stays', async () => {
    const { provider, token, wait, store, kept } = await start();
    const swap = store.swap.bind(store);
    store.swap = async (...row) => {
      wait(5);
      return await swap(...row);
    };
    provider.lives = 4;
    wait(3601);
    await expect(token()).rejects.toMatchObject({ code: 'outgoing.unavailable', data: { provider: 'corp' } });
    expect(provider.presented.length).toBeLessThan(5);
    expect(new Set(provider.presented).size).toBe(provider.presented.length);
    store.swap = swap;
    expect(await token()).toBe((await kept())?.accessToken.reveal());
  });

  it('is given back when the login ended meanwhile', async () => {
    const { provider, token, wait, vault, orphans } = await start();
    provider.slow = 50;
    wait(3601);
    const asked = token();
    await sleep(10);
    await vault.of('grant').clear();
    await expect(asked).rejects.toMatchObject({ code: 'outgoing.login_needed' });
    expect(orphans).toEqual(['refresh 2']);
  });

  it('gives way to a login that was made meanwhile', async () => {
    const { provider, token, wait, vault, kept } = await start();
    provider.slow = 50;
    wait(3601);
    const asked = token();
    await sleep(10);
    await vault.of('flow').deposit('corp', { ...tokensNumber(9), subject: 'alice at corp' }, 60);
    await vault.of('flow').handOver('corp', 'grant', OWNER, 86_400);
    expect(await asked).toBe('access 9');
    expect((await kept())?.refreshToken?.reveal()).toBe('refresh 9');
  });
});
