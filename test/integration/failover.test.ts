import { describe, expect, it } from 'vitest';
import { proveNoCrossings } from '../support/proofs/crossings.ts';
import { proveFailover } from '../support/proofs/failover.ts';
import { proveKilledLogin, proveKilledOwnRefresh, proveKilledRefresh } from '../support/proofs/killed.ts';

/** The long forms are in `npm run stress`. What must hold is asserted by the proofs themselves. */
describe('under load', () => {
  it('no user is ever seen with the token of another one', { timeout: 60_000 }, async () => {
    const figures = await proveNoCrossings({ users: 12, calls: 1_500 });
    console.log('crossings', figures);
    expect(figures.crossings).toBe(0);
    // One for each user and backend that exchanges, however many calls there were.
    expect(figures.exchanges).toBeLessThanOrEqual(24);
  });

  it('the master of the store is killed and nothing that was answered is lost', { timeout: 60_000 }, async () => {
    const figures = await proveFailover({ before: 1_500, after: 6_000 });
    console.log('failover', figures);
    expect(figures.loginsLost + figures.presentedTwice).toBe(0);
  });
});

describe('a gateway that is killed (kill -9)', () => {
  it('in the middle of a login loses no login that stands', { timeout: 90_000 }, async () => {
    const figures = await proveKilledLogin({ every: 11 });
    console.log('killed login', figures);
    expect(figures.kills).toBeGreaterThan(2);
  });

  it('in the middle of a refresh of our own token costs nobody his login', { timeout: 90_000 }, async () => {
    const figures = await proveKilledOwnRefresh({ steps: [4] });
    console.log('killed own refresh', figures);
    expect(figures.usable).toBe(2);
  });

  it('in the middle of a refresh loses no token that a provider gave and we stored', { timeout: 90_000 }, async () => {
    // The lock is taken and the provider has the question; what it answered is stored.
    const figures = await proveKilledRefresh([{ at: 'provider' }, { at: 'after', step: 2 }]);
    console.log('killed refresh', figures);
    expect(figures.usable).toBe(2);
  });
});
