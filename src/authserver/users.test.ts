import { describe, expect, it } from 'vitest';
import { createServerSecrets } from './secrets.ts';
import { createMemoryStore } from './storage/memory.ts';
import { createRecords } from './storage/records.ts';
import { createUsers } from './users.ts';

const CORP = { issuer: 'https://corp.test', tokenEndpoint: 'https://corp.test/token' };
const ALICE = { subject: 'alice', synthetic: false, name: 'Alice', email: 'alice@corp.test' };

function start() {
  const store = createMemoryStore({ now: Date.now });
  const records = createRecords(store, createServerSecrets('a/b', [Buffer.alloc(32, 7)]));
  return { users: createUsers(records), store };
}

describe('users', () => {
  it('are the same at the next login, with the name of the latest', async () => {
    const { users } = start();
    const first = await users.resolve('corp', CORP, ALICE);
    const second = await users.resolve('corp', CORP, { subject: 'alice', synthetic: false, name: 'Alice B.' });
    expect(second).toEqual({ id: first.id, name: 'Alice B.' });
    expect(await users.find(first.id)).toEqual(second);
  });

  it('are others at another provider, at another issuer and for another subject', async () => {
    const { users } = start();
    const moved = { issuer: 'https://corp.example', tokenEndpoint: CORP.tokenEndpoint };
    const ids = [
      await users.resolve('corp', CORP, ALICE),
      await users.resolve('other', CORP, ALICE),
      await users.resolve('corp', moved, ALICE),
      await users.resolve('corp', CORP, { ...ALICE, subject: 'Alice' }),
      await users.resolve('corp', { tokenEndpoint: CORP.issuer }, { ...ALICE, subject: 'x' }),
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.join()).not.toContain('alice');
  });

  it('are made once, however many first logins come at the same time', async () => {
    const { users } = start();
    const logins = await Promise.all(Array.from({ length: 20 }, () => users.resolve('corp', CORP, ALICE)));
    expect(new Set(logins.map(({ id }) => id)).size).toBe(1);
  });

  it('of whom nothing is known leave nothing behind', async () => {
    const { users, store } = start();
    const id = `tk-${'0'.repeat(32)}`;
    expect(await users.resolve('hub', CORP, { subject: id, synthetic: true })).toEqual({ id });
    expect(await users.find(id)).toEqual({ id });
    expect(store.report().rows).toBe(0);
  });

  it('who never logged in are nobody', async () => {
    expect(await start().users.find('somebody')).toBeUndefined();
  });
});
