import { describe, expect, it } from 'vitest';
import { type Redeemed, type Upstream, UpstreamError, type UpstreamErrorCode } from '../oauth/upstream/index.ts';
import { withTroubles } from './troubles.ts';

function start() {
  let fails: UpstreamError | undefined;
  const answer = async (): Promise<Redeemed> => {
    if (fails) throw fails;
    return {} as Redeemed;
  };
  const upstream = { name: 'corp', redeem: answer, refresh: answer, status: () => ({ name: 'corp', state: 'ready' }) };
  const watched = withTroubles(upstream as unknown as Upstream);
  return {
    watched,
    async use(code?: UpstreamErrorCode, oauthCode?: string) {
      fails = code && new UpstreamError(code, 'corp', 'says no', { oauthCode });
      await watched.refresh({} as never).catch(() => {});
      return watched.status();
    },
  };
}

describe('the troubles of a provider', () => {
  it.each([
    ['upstream.refused', 'invalid_client', 'check its clientId, its secret and its scopes'],
    ['upstream.unavailable', undefined, 'check that it runs and can be reached from here'],
    ['upstream.answer_invalid', undefined, 'check that its addresses are those of the provider'],
  ] as const)('%s %s is told with its repair, until something goes well', async (code, oauthCode, repair) => {
    const { use } = start();
    expect(await use(code, oauthCode)).toEqual({
      name: 'corp',
      state: 'unavailable',
      problem: `provider corp: says no; ${repair}`,
    });
    expect(await use()).toEqual({ name: 'corp', state: 'ready' });
  });

  it.each([
    ['upstream.refused', 'invalid_grant'],
    ['upstream.refused', 'access_denied'],
    ['upstream.moved', undefined],
  ] as const)('%s %s is about one user, and no trouble', async (code, oauthCode) => {
    expect(await start().use(code, oauthCode)).toEqual({ name: 'corp', state: 'ready' });
  });
});
