import { describe, expect, it } from 'vitest';
import { SallyError, Secret } from '../../base/index.ts';
import type { Exchange } from '../../oauth/index.ts';
import type { Identity, UpstreamTokens, User } from '../call.ts';
import { createCredential } from './index.ts';
import { tokenExchange } from './token-exchange.ts';

const NOBODY: Identity = { kind: 'anonymous' };

function userOf(name: string): User {
  return {
    kind: 'user',
    issuer: 'https://gate.test',
    subject: name,
    clientId: 'client',
    scopes: [],
    claims: {},
    expiresAt: Number.POSITIVE_INFINITY,
    grant: `grant of ${name}`,
    token: new Secret(`token of ${name}`),
  };
}

const ALICE = userOf('alice');
const BOB = userOf('bob');

/** A vault whose tokens are named after their user and provider; a refused one has a successor. */
const tokens: UpstreamTokens = {
  accessToken: ({ subject }, provider, refused) =>
    new Secret(refused ? `${refused.reveal()} again` : `${provider} of ${subject}`),
};
const parts = { upstreamTokens: () => tokens, now: () => 0 };

describe('the credential of a backend', () => {
  it('is nothing, the same for all, or the token of the user', async () => {
    const credentialOf = (plan: Parameters<typeof createCredential>[0]) => createCredential(plan, parts);
    expect(credentialOf({ kind: 'none' }).headers(ALICE)).toEqual({});
    expect(credentialOf({ kind: 'header', name: 'x-key', value: new Secret('s') }).headers(ALICE)).toEqual({
      'x-key': 's',
    });
    expect(credentialOf({ kind: 'bearer', token: new Secret('s') }).headers(ALICE)).toEqual({
      authorization: 'Bearer s',
    });
    const inject = credentialOf({ kind: 'upstream-inject', provider: 'corp' });
    expect(inject.headers(ALICE)).toEqual({ authorization: 'Bearer corp of alice' });
    expect(inject.headers(BOB)).toEqual({ authorization: 'Bearer corp of bob' });
  });

  it('that is a token of a login is not there for nobody', () => {
    const inject = createCredential({ kind: 'upstream-inject', provider: 'corp' }, parts);
    expect(() => inject.headers(NOBODY)).toThrow(expect.objectContaining({ code: 'outgoing.login_needed' }));
  });

  it('that was refused is another one the next time, or there is none', async () => {
    const inject = createCredential({ kind: 'upstream-inject', provider: 'corp' }, parts);
    expect(await inject.renew?.(ALICE, { authorization: 'Bearer corp of alice' })).toEqual({
      authorization: 'Bearer corp of alice again',
    });
    const stubborn: UpstreamTokens = { accessToken: (_user, _provider, refused) => refused ?? new Secret('x') };
    const same = createCredential(
      { kind: 'upstream-inject', provider: 'corp' },
      { ...parts, upstreamTokens: () => stubborn },
    );
    expect(await same.renew?.(ALICE, { authorization: 'Bearer x' })).toBeUndefined();
  });
});

describe('a token in exchange', () => {
  function start(provider: string | undefined, exchange?: Exchange, header = 'authorization') {
    const asked: string[] = [];
    let now = 0;
    const counting: Exchange = async (subject) => {
      asked.push(subject.reveal());
      return { token: new Secret(`for ${subject.reveal()} ${asked.length}`), expiresAt: now + 100_000 };
    };
    const credential = tokenExchange({
      exchange: exchange ?? counting,
      upstream: provider === undefined ? undefined : { provider, tokens: () => tokens },
      header,
      now: () => now,
    });
    return { credential, asked, wait: (ms: number) => (now += ms) };
  }

  it('is made from the token of the provider, or from the one the caller came with', async () => {
    const ofProvider = start('corp');
    await ofProvider.credential.headers(ALICE);
    expect(ofProvider.asked).toEqual(['corp of alice']);
    const ofCaller = start(undefined);
    await ofCaller.credential.headers(ALICE);
    expect(ofCaller.asked).toEqual(['token of alice']);
  });

  it('goes as a bearer token into the header that was named, and into no other', async () => {
    const { credential } = start(undefined, undefined, 'x-upstream');
    expect(await credential.headers(ALICE)).toEqual({ 'x-upstream': 'Bearer for token of alice 1' });
  });

  it('is made once for calls that come together, and kept until shortly before its end', async () => {
    const { credential, asked, wait } = start('corp');
    const made = await Promise.all(Array.from({ length: 10 }, () => credential.headers(ALICE)));
    expect(new Set(made.map(({ authorization }) => authorization)).size).toBe(1);
    wait(69_000);
    await credential.headers(ALICE);
    expect(asked).toHaveLength(1);
    wait(2_000);
    await credential.headers(ALICE);
    expect(asked).toHaveLength(2);
  });

  it('is never that of another user', async () => {
    const { credential } = start('corp');
    const [one, other] = await Promise.all([credential.headers(ALICE), credential.headers(BOB)]);
    expect(one.authorization).toContain('alice');
    expect(other.authorization).toContain('bob');
  });

  it('that was refused is made anew, once for all who were refused', async () => {
    const { credential, asked } = start('corp');
    const refused = await credential.headers(ALICE);
    const renewed = await Promise.all(Array.from({ length: 5 }, () => credential.renew?.(ALICE, refused)));
    expect(asked).toHaveLength(2);
    expect(new Set(renewed.map((headers) => headers?.authorization)).size).toBe(1);
    expect(renewed[0]).not.toEqual(refused);
  });

  it('is asked for again with a renewed token when the first one has ended before its time', async () => {
    const asked: string[] = [];
    const { credential } = start('corp', async (subject) => {
      asked.push(subject.reveal());
      if (asked.length === 1)
        throw new SallyError('outgoing.exchange_refused', 'no', { data: { oauth: 'invalid_grant' } });
      return { token: new Secret('made') };
    });
    expect(await credential.headers(ALICE)).toEqual({ authorization: 'Bearer made' });
    expect(asked).toEqual(['corp of alice', 'corp of alice again']);
  });

  it.each(['invalid_client', 'invalid_target', 'invalid_scope'])(
    'that is refused with %s is not asked for again',
    async (code) => {
      let asked = 0;
      const { credential } = start('corp', async () => {
        asked += 1;
        throw new SallyError('outgoing.exchange_refused', 'no', { data: { oauth: code } });
      });
      await expect(credential.headers(ALICE)).rejects.toMatchObject({ code: 'outgoing.exchange_refused' });
      expect(asked).toBe(1);
    },
  );
});
