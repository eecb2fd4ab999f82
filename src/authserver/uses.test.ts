import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { silentLog } from '../base/index.ts';
import type { LoginRecord, Use } from './logins.ts';
import { createUses } from './uses.ts';

const LOGIN: LoginRecord = {
  grantId: 'grant',
  user: { id: 'alice' },
  client: { id: 'client' },
  since: 0,
  until: 1000,
  use: { at: 1, providers: { corp: 1, hub: 1 } },
};

beforeEach(() => void vi.useFakeTimers({ now: 100_000 }));
afterEach(() => void vi.useRealTimers());

function start(fails = false) {
  const written: (readonly [string, Use])[] = [];
  const logins = {
    async used(grantId: string, use: Use) {
      if (fails) throw new Error('the store is away');
      written.push([grantId, use]);
    },
  };
  return { written, uses: createUses({ logins, log: silentLog, now: Date.now }) };
}

describe('the use of a login', () => {
  it('is written down once a minute, however often it is used', async () => {
    const { uses, written } = start();
    for (let n = 0; n < 1000; n++) {
      uses.note('grant', n % 2 === 0 ? 'corp' : undefined);
      await vi.advanceTimersByTimeAsync(100);
    }
    expect(written).toHaveLength(1);
    await uses.close();
    expect(written).toEqual([
      ['grant', { at: 159, providers: { corp: 159 } }],
      ['grant', { at: 199, providers: { corp: 199 } }],
    ]);
  });

  it('counts at once where it happened', () => {
    const { uses } = start();
    expect(uses.upToDate(LOGIN)).toEqual(LOGIN);
    uses.note('grant');
    uses.note('grant', 'hub');
    expect(uses.upToDate(LOGIN).use).toEqual({ at: 100, providers: { corp: 1, hub: 100 } });
  });

  it('is not kept for more logins than there is room for', async () => {
    const { uses, written } = start();
    for (let n = 0; n < 30_000; n++) uses.note(`grant-${n}`);
    await uses.close();
    expect(written).toHaveLength(20_000);
  });

  it('is lost when the store is away, and the next one is written down again', async () => {
    const { uses } = start(true);
    uses.note('grant');
    await vi.advanceTimersByTimeAsync(60_000);
    expect(uses.upToDate(LOGIN)).toEqual(LOGIN);
    uses.note('grant');
    await uses.close(); // does not throw
  });
});
