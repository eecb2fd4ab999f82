import { describe, expect, it } from 'vitest';
import { Secret } from '../../base/index.ts';
import { createServerSecrets } from '../secrets.ts';
import { createAdapters } from './adapter.ts';
import { createClientRows } from './clients.ts';
import { grantGroup, SHELVES } from './kinds.ts';
import { createMemoryStore } from './memory.ts';
import { createRecords } from './records.ts';

const SECRET = new Secret('a secret that is long enough for this test');

function setup(options = {}) {
  const store = createMemoryStore({ now: Date.now, shelves: SHELVES, ...options });
  const records = createRecords(store, createServerSecrets('default/test', [SECRET]));
  const clients = createClientRows(records, Date.now);
  const reused: string[] = [];
  const adapter = createAdapters({
    records,
    clients,
    rotation: { defer: () => false },
    endGrant: (grantId) => records.removeGroup(grantGroup(records, grantId)),
    reused: (grantId) => reused.push(grantId),
  });
  return { store, records, clients, reused, adapter };
}

const soon = () => Math.floor(Date.now() / 1000) + 60;

describe('how the library keeps its models', () => {
  it('finds what was saved, until it is destroyed', async () => {
    const codes = setup().adapter('AuthorizationCode');
    await codes.upsert('id', { grantId: 'g', scope: 'openid' }, 60);
    expect(await codes.find('id')).toEqual({ grantId: 'g', scope: 'openid' });
    await codes.destroy('id');
    expect(await codes.find('id')).toBeUndefined();
  });

  it('consumed shows when the code is found again', async () => {
    const codes = setup().adapter('AuthorizationCode');
    await codes.upsert('id', { grantId: 'g', exp: soon() }, 60);
    await codes.consume('id');
    expect(await codes.find('id')).toMatchObject({ consumed: expect.any(Number) });
  });

  it.each(['AuthorizationCode', 'RefreshToken'])(
    'of many that consume one %s at the same time one succeeds, and the grant ends',
    async (model) => {
      const { adapter, records, reused } = setup();
      const models = adapter(model);
      await adapter('Grant').upsert('g', { accountId: 'alice' }, 60);
      await records.rows('upstream-tokens').put('t', 'x', { ttl: 60, groups: [grantGroup(records, 'g')] });
      await models.upsert('id', { grantId: 'g', exp: soon() }, 60);
      const outcomes = await Promise.allSettled(Array.from({ length: 10 }, () => models.consume('id')));
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
      for (const outcome of outcomes) {
        if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ error: 'invalid_grant' });
      }
      expect(new Set(reused)).toEqual(new Set(['g']));
      expect(await adapter('Grant').find('g')).toBeUndefined();
      expect(await records.rows('upstream-tokens').get('t')).toBeUndefined();
    },
  );

  it('what was never there cannot be consumed', async () => {
    await expect(setup().adapter('RefreshToken').consume('none')).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('a revoked grant takes everything with it, and nothing of another grant', async () => {
    const { adapter, records } = setup();
    for (const grant of ['g', 'h']) {
      await adapter('Grant').upsert(grant, { accountId: 'alice' }, 60);
      await adapter('AuthorizationCode').upsert(`code of ${grant}`, { grantId: grant }, 60);
      await adapter('RefreshToken').upsert(`token of ${grant}`, { grantId: grant }, 60);
      await records.rows('upstream-tokens').put(grant, 'x', { ttl: 60, groups: [grantGroup(records, grant)] });
    }
    await adapter('AccessToken').revokeByGrantId('g');
    const left = async (grant: string) => [
      await adapter('Grant').find(grant),
      await adapter('AuthorizationCode').find(`code of ${grant}`),
      await adapter('RefreshToken').find(`token of ${grant}`),
      await records.rows('upstream-tokens').get(grant),
    ];
    expect(await left('g')).toEqual([undefined, undefined, undefined, undefined]);
    expect((await left('h')).every((row) => row !== undefined)).toBe(true);
  });

  it('of two proofs with one id that come together only one is new', async () => {
    const proofs = setup().adapter('ReplayDetection');
    const outcomes = await Promise.allSettled([proofs.upsert('p', {}, 60), proofs.upsert('p', {}, 60)]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('keeps no sessions', async () => {
    const sessions = setup().adapter('Session');
    await sessions.upsert('id', { uid: 'u', accountId: 'alice' }, 60);
    expect(await sessions.find('id')).toBeUndefined();
    expect(await sessions.findByUid('u')).toBeUndefined();
  });

  it('too many logins at once are a reason to come back later, not a failure', async () => {
    const { adapter } = setup({ shelves: { Interaction: { most: 1, whenFull: 'refuse' } } });
    await adapter('Interaction').upsert('a', {}, 60);
    await expect(adapter('Interaction').upsert('b', {}, 60)).rejects.toMatchObject({
      error: 'temporarily_unavailable',
    });
  });
});

describe('registered clients', () => {
  it('are found while they move to those that somebody logged in with', async () => {
    const store = createMemoryStore({ now: Date.now, shelves: SHELVES });
    const secrets = createServerSecrets('default/test', [SECRET]);
    const elsewhere = createClientRows(createRecords(store, secrets), Date.now);
    await elsewhere.register('c', { client_id: 'c' } as never);
    const moving = {
      ...store,
      async get(key: string) {
        const text = await store.get(key);
        await elsewhere.used('c'); // by another process, right after our first look
        return text;
      },
    };
    const clients = createClientRows(createRecords(moving, secrets), Date.now);
    expect(await clients.find('c')).toEqual({ client_id: 'c' });
  });

  it('make room while nobody logged in with them, and stay once somebody did', async () => {
    const { adapter, clients } = setup({ shelves: { 'idle-client': { most: 10, whenFull: 'drop' } } });
    await adapter('Client').upsert('used', { client_id: 'used' } as never);
    await clients.used('used');
    for (let n = 0; n < 100; n++) await adapter('Client').upsert(`idle ${n}`, { client_id: `idle ${n}` } as never);
    expect(await adapter('Client').find('used')).toEqual({ client_id: 'used' });
    expect(await adapter('Client').find('idle 0')).toBeUndefined();
    expect(await adapter('Client').find('idle 99')).toEqual({ client_id: 'idle 99' });
  });
});
