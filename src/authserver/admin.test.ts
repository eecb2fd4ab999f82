import { describe, expect, it } from 'vitest';
import { silentLog } from '../base/index.ts';
import type { AuthServerPlan } from '../plan/index.ts';
import { createAdmin } from './admin.ts';
import { nameOfGrant } from './library/audit.ts';
import { createLogins } from './logins.ts';
import { createServerSecrets } from './secrets.ts';
import { createMemoryStore } from './storage/memory.ts';
import { createRecords } from './storage/records.ts';
import { createUses } from './uses.ts';
import { createVault } from './vault/index.ts';

const START = 1_800_000_000;

function start() {
  const now = (): number => START * 1000;
  const records = createRecords(createMemoryStore({ now }), createServerSecrets('a/b', [Buffer.alloc(32, 7)]));
  const logins = createLogins(records, now);
  const uses = createUses({ logins, log: silentLog, now });
  const ended: string[] = [];
  const plan = { name: 'a/b', issuer: 'https://gate.test/base', providers: [] } as unknown as AuthServerPlan;
  const admin = createAdmin({
    plan,
    logins,
    uses,
    vault: createVault(records, now),
    upstreams: new Map(),
    now,
    async endLogin(login, by) {
      expect(by).toBe('an administrator');
      ended.push(login.grantId);
      await logins.forget(login);
    },
  });
  return {
    admin,
    ended,
    begin: (grantId: string, user: { id: string; email?: string }, since = START) =>
      logins.begin({ grantId, user, client: { id: 'client' }, since, until: START + 3600 }),
  };
}

const alice = { id: 'alice-1', email: 'alice@example.com' };

describe('the administrator', () => {
  it('sees the logins that were used last, how many there are, and where users see their own', async () => {
    const { admin, begin } = start();
    for (let n = 0; n < 600; n++) await begin(`grant-${n}`, { id: `user-${n}` }, START + n);
    const { sessions, total, page } = await admin.report();
    expect([sessions.length, total, page]).toEqual([500, 600, 'https://gate.test/base/oauth/connections']);
    expect(sessions[0]?.id).toBe(nameOfGrant('grant-599'));
  });

  it('finds the login of one user among many, by id and by address in any case', async () => {
    const { admin, begin } = start();
    for (let n = 0; n < 600; n++) await begin(`grant-${n}`, { id: `user-${n}` });
    await begin('hers', alice, START - 1000);
    for (const name of ['alice-1', 'ALICE@example.com']) {
      expect((await admin.report(name)).sessions.map(({ id }) => id)).toEqual([nameOfGrant('hers')]);
    }
    expect((await admin.report('alice')).sessions).toEqual([]);
  });

  it('ends nothing when an address is that of several users, and everything of the one that is named', async () => {
    const { admin, begin, ended } = start();
    await begin('one', alice);
    await begin('two', { ...alice, id: 'alice-2' });
    const refused = await admin.revoke({ user: alice.email });
    expect(refused).toMatchObject({ ended: 0, isMore: false });
    expect([...(refused.ambiguous ?? [])].sort()).toEqual(['alice-1', 'alice-2']);
    expect(ended).toEqual([]);
    expect(await admin.revoke({ user: 'alice-2' })).toEqual({ ended: 1, isMore: false });
    expect(ended).toEqual(['two']);
  });

  it('ends a login by the name that is shown, and not by its id', async () => {
    const { admin, begin, ended } = start();
    await begin('one', alice);
    expect(await admin.revoke({ id: 'one' })).toEqual({ ended: 0, isMore: false });
    expect(await admin.revoke({ id: nameOfGrant('one') })).toEqual({ ended: 1, isMore: false });
    expect(ended).toEqual(['one']);
  });

  it('ends all logins in portions, and says when there are more', async () => {
    const { admin, begin, ended } = start();
    for (let n = 0; n < 1100; n++) await begin(`grant-${n}`, { id: `user-${n}` });
    const portions: number[] = [];
    for (let isMore = true; isMore; ) {
      const answer = await admin.revoke({ all: true });
      portions.push(answer.ended);
      isMore = answer.isMore;
    }
    expect(portions).toEqual([500, 500, 100]);
    expect(new Set(ended).size).toBe(1100);
  });
});
