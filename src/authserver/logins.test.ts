import { describe, expect, it } from 'vitest';
import { Secret } from '../base/index.ts';
import { createLogins, type LoginRecord, type Logins } from './logins.ts';
import { createServerSecrets } from './secrets.ts';
import { grantGroup } from './storage/kinds.ts';
import { createMemoryStore } from './storage/memory.ts';
import { createRecords } from './storage/records.ts';

const OLD = new Secret('old secret, which is long enough for this');
const NEW = new Secret('new secret, which is long enough for this');
const LIFESPAN = 3600;

function start() {
  let seconds = 1_800_000_000;
  const now = (): number => seconds * 1000;
  const store = createMemoryStore({ now });
  const recordsWith = (...secrets: [Secret, ...Secret[]]) =>
    createRecords(store, createServerSecrets('default/test', secrets));
  const records = recordsWith(OLD);
  return {
    store,
    records,
    logins: createLogins(records, now),
    loginsWith: (...secrets: [Secret, ...Secret[]]) => createLogins(recordsWith(...secrets), now),
    wait: (time: number) => {
      seconds += time;
    },
    login: (grantId: string, user = 'alice'): Omit<LoginRecord, 'use'> => ({
      grantId,
      user: { id: user },
      client: { id: 'client' },
      since: seconds,
      until: seconds + LIFESPAN,
    }),
  };
}

const grantsOf = async (logins: Logins, user: string): Promise<string[]> =>
  (await logins.of(user)).map(({ grantId }) => grantId);

async function all(logins: Logins): Promise<string[]> {
  const found: string[] = [];
  for await (const { grantId } of logins.all()) found.push(grantId);
  return found.sort();
}

describe('logins', () => {
  it('are found by their user and all together, those used last first', async () => {
    const { logins, login, wait } = start();
    for (const grant of ['a', 'b']) await logins.begin(login(grant));
    await logins.begin(login('c', 'bob'));
    wait(10);
    await logins.used('a', { at: 1_800_000_009, providers: { corp: 1_800_000_008 } });
    expect(await grantsOf(logins, 'alice')).toEqual(['a', 'b']);
    expect(await grantsOf(logins, 'bob')).toEqual(['c']);
    expect(await grantsOf(logins, 'carol')).toEqual([]);
    expect(await all(logins)).toEqual(['a', 'b', 'c']);
    expect((await logins.find('a'))?.use).toEqual({ at: 1_800_000_009, providers: { corp: 1_800_000_008 } });
  });

  it('never seem older for what another process writes down late', async () => {
    const { logins, login } = start();
    await logins.begin(login('a'));
    await logins.used('a', { at: 30, providers: { corp: 30 } });
    await logins.used('a', { at: 20, providers: { corp: 20, hub: 10 } });
    expect((await logins.find('a'))?.use).toEqual({ at: 30, providers: { corp: 30, hub: 10 } });
  });

  it('end with their grant, and leave nothing behind', async () => {
    const { logins, login, records, store } = start();
    await logins.begin(login('a'));
    const known = (await logins.find('a')) as LoginRecord;
    await records.removeGroup(grantGroup(records, 'a'));
    expect([await grantsOf(logins, 'alice'), await all(logins)]).toEqual([[], []]);
    await logins.used('a', { at: 5, providers: {} }); // too late
    await logins.forget(known);
    expect(await logins.count()).toBe(0);
    expect(store.report().rows).toBe(0);
  });

  it('end by themselves when their time is over, however often they were used', async () => {
    const { logins, login, wait } = start();
    await logins.begin(login('a'));
    wait(LIFESPAN - 1);
    await logins.used('a', { at: 1, providers: {} });
    expect(await grantsOf(logins, 'alice')).toEqual(['a']);
    wait(1);
    expect(await grantsOf(logins, 'alice')).toEqual([]);
  });

  it('of one user are so many at most: those not used for the longest time have to give way', async () => {
    const { logins, login, wait } = start();
    const older: string[] = [];
    for (let n = 0; n < 202; n++) {
      older.push(...(await logins.begin(login(`grant-${n}`))).map(({ grantId }) => grantId));
      wait(1);
      if (n === 0) await logins.used('grant-0', { at: 1_800_001_000, providers: {} });
    }
    expect([...new Set(older)].sort()).toEqual(['grant-1', 'grant-2']);
    expect(await logins.begin(login('of-another', 'bob'))).toEqual([]);
  });

  it('are found after the secret has turned, and not by whoever lacks it', async () => {
    const { logins, login, loginsWith } = start();
    await logins.begin(login('a'));
    const turned = loginsWith(NEW, OLD);
    await turned.begin(login('b'));
    expect((await grantsOf(turned, 'alice')).sort()).toEqual(['a', 'b']);
    await turned.used('a', { at: 7, providers: {} });
    expect((await turned.find('a'))?.use.at).toBe(7);
    expect(await all(loginsWith(NEW))).toEqual(['b']);
  });
});
