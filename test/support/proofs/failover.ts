import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { startBoundaries } from '../boundaries.ts';
import { type Caller, outcomeOf } from '../caller.ts';
import { startIdentityProvider, type TestUser } from '../identity-provider.ts';
import { startRecordingServer } from '../recording-server.ts';
import { startSentinels } from '../redis.ts';
import { storageOf } from '../redis-storage.ts';

export interface FailoverFigures {
  readonly calls: number;
  /** What became of the calls: `ok`, or the status of a refusal. */
  readonly outcomes: Readonly<Record<string, number>>;
  /** From the death of the master to the last call that failed, in milliseconds; 0 when none did. */
  readonly failingFor: number;
  readonly longestCall: number;
  readonly logins: number;
  /** Logins that did not come to their end, and that the user begins again. */
  readonly loginsBrokenOff: number;
  /** Logins that were complete and do not work afterwards. */
  readonly loginsLost: number;
  readonly upstreamRefreshes: number;
  readonly presentedTwice: number;
  readonly ownRefreshes: number;
}

/** How long tokens of the provider last, in seconds: about as long as storing one takes during the failover, so that some end then. */
const SHORT = 4;
const CALLERS = 8;
/** More than the sentinels of the test and the connections need together. */
const MOST = 10_000;

/** The master of the store dies (kill -9) while users call, log in and refresh: nothing that was answered is lost. */
export async function proveFailover(times: {
  readonly before: number;
  readonly after: number;
}): Promise<FailoverFigures> {
  const users = Object.fromEntries(
    Array.from({ length: 200 }, (_, n): [string, TestUser] => {
      const name = `user-${n}`;
      return [name, { name, email: `${name}@example.test`, emailVerified: true }];
    }),
  );
  await using redis = await startSentinels();
  await using corp = await startIdentityProvider({ name: 'corp', accessTokenTtl: SHORT, users });
  await using notes = await startRecordingServer({
    era: 'modern',
    admits: async ({ authorization = '' }) => (await corp.userOf(authorization.slice(7))) !== undefined,
  });
  await using gate = await startBoundaries({
    providers: { corp },
    backends: { notes: { server: notes, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'corp' } } } },
    authServer: { storage: storageOf(redis) },
    replicas: 2,
  });

  const outcomes: Record<string, number> = {};
  const complete: Caller[] = [];
  let [calls, lastFailure, longestCall, loginsBrokenOff, ownRefreshes] = [0, 0, 0, 0, 0];
  let [logins, killedAt] = [0, Number.POSITIVE_INFINITY];
  let isOver = false;

  async function keepCalling(caller: Caller, replica: number): Promise<void> {
    while (!isOver) {
      const began = performance.now();
      const outcome = outcomeOf(await caller.call('notes_whoami', { replica }));
      const ended = performance.now();
      calls += 1;
      outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      longestCall = Math.max(longestCall, ended - began);
      if (outcome !== 'ok') lastFailure = ended;
      await sleep(20);
    }
  }

  async function keepLoggingIn(): Promise<void> {
    while (!isOver) {
      const n = CALLERS + logins++;
      try {
        complete.push(await gate.login(`user-${n % 200}`, { from: `127.0.2.${(n % 250) + 1}` }));
      } catch {
        loginsBrokenOff += 1;
      }
      await sleep(50);
    }
  }

  /** Our own refresh tokens: who is told to try again later tries the same one again. */
  async function keepRefreshing(first: Caller): Promise<Caller> {
    let newest = first;
    while (!isOver) {
      try {
        newest = await newest.refreshed(ownRefreshes % 2);
        ownRefreshes += 1;
      } catch (error) {
        assert.match(String(error), /\(503\)/, 'a refresh fails with 503 only');
      }
      await sleep(200);
    }
    return newest;
  }

  const callers: Caller[] = [];
  for (let n = 0; n < CALLERS; n++) callers.push(await gate.login(`user-${n}`, { from: `127.0.3.${n + 1}` }));
  const [refreshing] = callers.splice(0, 1) as [Caller];
  const work = [keepLoggingIn(), ...callers.flatMap((caller) => [0, 1].map((replica) => keepCalling(caller, replica)))];
  const renewed = keepRefreshing(refreshing);
  for (const one of [...work, renewed]) one.catch(() => {}); // awaited below, when everything can be closed
  await sleep(times.before);
  killedAt = performance.now();
  await redis.killMaster();
  await sleep(times.after);
  isOver = true;
  await Promise.all([...work, renewed]);

  let loginsLost = 0;
  for (const caller of [...callers, ...complete, await renewed]) {
    if (outcomeOf(await caller.call('notes_whoami')) !== 'ok') loginsLost += 1;
  }
  const failingFor = lastFailure > killedAt ? Math.round(lastFailure - killedAt) : 0;
  const presentedTwice = corp.refreshes.length - new Set(corp.refreshes).size;
  assert.deepEqual(
    Object.keys(outcomes).filter((outcome) => outcome !== 'ok' && outcome !== '503'),
    [],
    `calls fail with 503 only: ${JSON.stringify(outcomes)}`,
  );
  assert.ok(failingFor < MOST, `calls failed for ${failingFor} ms`);
  assert.equal(loginsLost, 0, 'no login is lost');
  assert.equal(presentedTwice, 0, 'no refresh token is presented twice');
  assert.ok(complete.length > 0 && ownRefreshes > 0, 'logins and refreshes went on');
  return {
    calls,
    outcomes,
    failingFor,
    longestCall: Math.round(longestCall),
    logins: complete.length,
    loginsBrokenOff,
    loginsLost,
    upstreamRefreshes: corp.refreshes.length,
    presentedTwice,
    ownRefreshes,
  };
}
