import { describe, expect, it } from 'vitest';
import { Secret } from '../../base/index.ts';
import type { TokenSource, Upstream } from '../../oauth/upstream/index.ts';
import type { AuthServerPlan } from '../../plan/index.ts';
import type { LoginRecord } from '../logins.ts';
import { createServerSecrets } from '../secrets.ts';
import { createMemoryStore } from '../storage/memory.ts';
import { createRecords } from '../storage/records.ts';
import { createVault, type VaultEntry } from '../vault/index.ts';
import { connectionsOf } from './overview.ts';

const START = 1_800_000_000;
const HERE = { issuer: 'https://corp.test', tokenEndpoint: 'https://corp.test/token' };
const LOGIN: LoginRecord = {
  grantId: 'grant',
  user: { id: 'user' },
  client: { id: 'client' },
  since: START,
  until: START + 86_400,
  use: { at: START, providers: { corp: START + 5 } },
};

async function look(entry: Partial<VaultEntry> | undefined, login = LOGIN) {
  const now = (): number => START * 1000;
  const records = createRecords(createMemoryStore({ now }), createServerSecrets('a/b', [Buffer.alloc(32, 7)]));
  const vault = createVault(records, now);
  const whole = { subject: 'alice-at-corp', scopes: ['openid'], source: HERE, accessToken: new Secret('a'), ...entry };
  if (entry) {
    await vault.of('grant').deposit('corp', whole, 60);
    await vault.of('grant').settle(['corp'], { clientId: 'client', userId: 'user' }, 600);
  }
  const plan = { providers: [{ name: 'corp' }] } as unknown as AuthServerPlan;
  const corp = { issued: ({ issuer }: TokenSource) => issuer === HERE.issuer } as Upstream;
  const [found] = await connectionsOf(login, { plan, vault, upstreams: new Map([['corp', corp]]), now });
  return found;
}

describe('what a login has at a provider', () => {
  const refreshToken = new Secret('r');
  it.each([
    ['connected', 'its token is good', { expiresAt: START + 1 }],
    ['connected', 'its token has no end', {}],
    ['connected', 'its token has ended and can be renewed', { expiresAt: START - 1, refreshToken }],
    ['over', 'its token has ended for good', { expiresAt: START }],
    ['over', 'the provider of that name is another one now', { source: { ...HERE, issuer: 'https://other.test' } }],
    ['none', 'there is nothing', undefined],
  ] as const)('is %s when %s', async (state, _, entry) => {
    expect((await look(entry))?.state).toBe(state);
  });

  it('has the name that the provider gives him, or his id there', async () => {
    expect((await look({}))?.account).toBe('alice-at-corp');
    expect((await look({ account: 'alice@corp.test' }))?.account).toBe('alice@corp.test');
  });

  it('never holds a token', async () => {
    const found = await look({ refreshToken });
    expect(found).toEqual({
      provider: { name: 'corp' },
      state: 'connected',
      account: 'alice-at-corp',
      scopes: ['openid'],
      isRenewed: true,
      connectedAt: START,
      usedAt: START + 5,
    });
  });

  it('is nothing for somebody else than its owner', async () => {
    expect((await look({}, { ...LOGIN, user: { id: 'other' } }))?.state).toBe('none');
  });
});
