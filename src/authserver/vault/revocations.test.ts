import { describe, expect, it } from 'vitest';
import { Secret, silentLog } from '../../base/index.ts';
import type { Upstream } from '../../oauth/upstream/index.ts';
import { createRevocations } from './revocations.ts';
import type { VaultEntry } from './vault.ts';

const SOURCE = { tokenEndpoint: 'https://corp.test/token' };
const entry = (n: number): VaultEntry => ({
  subject: 'alice',
  scopes: [],
  source: SOURCE,
  accessToken: new Secret(`access ${n}`),
  refreshToken: new Secret(`refresh ${n}`),
});

function provider(isHeld = false) {
  const told: string[] = [];
  let atOnce = 0;
  let release = (): void => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const state = {
    told,
    most: 0,
    release: () => release(),
    issued: () => true,
    async revoke(token: Secret) {
      atOnce += 1;
      state.most = Math.max(state.most, atOnce);
      if (isHeld) await held;
      else await new Promise((resolve) => setImmediate(resolve));
      told.push(token.reveal());
      atOnce -= 1;
      return true;
    },
  };
  return state;
}

describe('revocation at providers', () => {
  it('tells all of a mass of tokens, refresh token first, and only a few at a time', async () => {
    const corp = provider();
    const upstreams = new Map([['corp', corp as unknown as Upstream]]);
    const revocations = createRevocations({ upstreams, log: silentLog });
    for (let n = 0; n < 500; n++) revocations.revoke('corp', entry(n));
    await revocations.close();
    expect(corp.told).toHaveLength(1000);
    expect(corp.told.indexOf('refresh 0')).toBeLessThan(corp.told.indexOf('access 0'));
    expect(corp.most).toBe(5);
  });

  it('does not let one provider wait for another that does not answer', async () => {
    const [corp, hub] = [provider(true), provider()];
    const upstreams = new Map(Object.entries({ corp, hub })) as unknown as ReadonlyMap<string, Upstream>;
    const revocations = createRevocations({ upstreams, log: silentLog });
    for (let n = 0; n < 50; n++) revocations.revoke('corp', entry(n));
    revocations.revoke('hub', entry(0));
    await expect.poll(() => hub.told).toEqual(['refresh 0', 'access 0']);
    expect(corp.told).toEqual([]);
    corp.release();
    await revocations.close();
    expect(corp.told).toHaveLength(100);
  });
});
