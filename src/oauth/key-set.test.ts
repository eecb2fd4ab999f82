import { exportJWK, generateKeyPair, type JWK } from 'jose';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createKeySet } from './key-set.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let first: JWK;
let second: JWK;
beforeAll(async () => {
  const make = async (kid: string): Promise<JWK> => {
    const { publicKey } = await generateKeyPair('ES256', { extractable: true });
    return { ...(await exportJWK(publicKey)), kid, alg: 'ES256' };
  };
  [first, second] = [await make('first'), await make('second')];
});

let clock = 0;
let reads = 0;
let isDown = false;
let published: readonly JWK[] = [];
let failures = 0;
beforeEach(() => {
  [clock, reads, isDown, published, failures] = [0, 0, false, [first], 0];
});

function keySet() {
  const find = createKeySet({
    now: () => clock,
    async read() {
      reads += 1;
      if (isDown) throw new Error('down');
      return { keys: published };
    },
    onFailure: () => {
      failures += 1;
    },
  });
  return async (kid: string) => await find({ alg: 'ES256', kid }, { payload: '', signature: '' });
}

describe('while the issuer answers', () => {
  it('keys are read once for everybody who waits', async () => {
    const find = keySet();
    await Promise.all([find('first'), find('first'), find('first')]);
    await find('first');
    expect(reads).toBe(1);
  });

  it('a new key is found when a token names it', async () => {
    const find = keySet();
    await find('first');
    published = [second];
    clock += 31 * SECOND;
    await find('second');
    expect(reads).toBe(2);
  });

  it('an unknown key is not looked for twice within half a minute', async () => {
    const find = keySet();
    await find('first');
    clock += 31 * SECOND;
    for (let index = 0; index < 100; index += 1) {
      await expect(find(`made up ${index}`)).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
      clock += 100;
    }
    expect(reads).toBe(2);
  });

  it('a key that is withdrawn is gone after ten minutes at most', async () => {
    const find = keySet();
    await find('first');
    published = [second];
    clock += 11 * MINUTE;
    await expect(find('first')).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  });

  it('keys are read again beside the requests after five minutes', async () => {
    const find = keySet();
    await find('first');
    clock += 6 * MINUTE;
    await find('first');
    expect(reads).toBe(2);
  });
});

describe('while the issuer is down', () => {
  it('nothing is known at the start, and it is asked again after some seconds', async () => {
    isDown = true;
    const find = keySet();
    await expect(find('first')).rejects.toMatchObject({ code: 'incoming.unavailable' });
    await expect(find('first')).rejects.toMatchObject({ code: 'incoming.unavailable' });
    expect(reads).toBe(1);
    isDown = false;
    clock += 6 * SECOND;
    await find('first');
    expect(failures).toBe(1);
  });

  it('the last good keys last for an hour, and no longer', async () => {
    const find = keySet();
    await find('first');
    isDown = true;
    clock += 59 * MINUTE;
    await find('first');
    clock += 2 * MINUTE;
    await expect(find('first')).rejects.toMatchObject({ code: 'incoming.unavailable' });
  });

  it('a key that we do not know may be a new one: that is no refusal', async () => {
    const find = keySet();
    await find('first');
    isDown = true;
    clock += 31 * SECOND;
    await expect(find('second')).rejects.toMatchObject({ code: 'incoming.unavailable' });
  });

  it('garbage in place of keys counts as down', async () => {
    published = 'garbage' as unknown as readonly JWK[];
    await expect(keySet()('first')).rejects.toMatchObject({ code: 'incoming.unavailable' });
  });
});
