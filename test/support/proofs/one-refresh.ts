import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBoundaries } from '../boundaries.ts';
import { startIdentityProvider } from '../identity-provider.ts';
import { startRecordingServer } from '../recording-server.ts';
import { startSentinels } from '../redis.ts';
import { storageOf } from '../redis-storage.ts';

export interface OneRefreshFigures {
  readonly rounds: number;
  readonly calls: number;
  /** Refresh tokens that were shown to the provider. */
  readonly refreshes: number;
  /** Those that were shown more than once. */
  readonly presentedTwice: number;
  /** The longest that a call took which came when its token had ended, in milliseconds. */
  readonly longest: number;
}

/** How long tokens of the provider last, in seconds: longer than all calls of a round take. */
const SHORT = 4;
const BOTH = [0, 1];

/** Two processes, a provider that rotates refresh tokens and ends the login when one comes twice: each token end costs one refresh. */
export async function proveOneRefresh(sizes: {
  readonly rounds: number;
  readonly calls: number;
}): Promise<OneRefreshFigures> {
  await using redis = await startSentinels();
  await using corp = await startIdentityProvider({ name: 'corp', accessTokenTtl: SHORT });
  await using notes = await startRecordingServer({
    era: 'modern',
    admits: async ({ authorization = '' }) => (await corp.userOf(authorization.slice(7))) !== undefined,
  });
  await using gate = await startBoundaries({
    providers: { corp },
    backends: { notes: { server: notes, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'corp' } } } },
    authServer: { storage: storageOf(redis) },
    replicas: BOTH.length,
  });
  const alice = await gate.login('alice');
  let longest = 0;
  for (let round = 0; round < sizes.rounds; round++) {
    for (const replica of BOTH) await alice.seenBy('notes', { replica });
    // A health check may be the first to need the new one.
    const before = corp.refreshes.length;
    await sleep(SHORT * 1000);
    const calls = Array.from({ length: sizes.calls }, async (_, n) => {
      const began = performance.now();
      const { authorization } = await alice.seenBy('notes', { replica: n % BOTH.length });
      longest = Math.max(longest, performance.now() - began);
      return authorization;
    });
    assert.deepEqual([...new Set(await Promise.all(calls))], [`Bearer ${corp.accessTokenOf('alice')}`]);
    assert.equal(corp.refreshes.length - before, 1, `one refresh for ${sizes.calls} calls in round ${round}`);
  }
  const presentedTwice = corp.refreshes.length - new Set(corp.refreshes).size;
  assert.equal(presentedTwice, 0);
  return { ...sizes, refreshes: corp.refreshes.length, presentedTwice, longest: Math.round(longest) };
}
