import { strict as assert } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Boundaries, startBoundaries } from '../boundaries.ts';
import { outcomeOf } from '../caller.ts';
import { type HoldAt, type HoldingProxy, startHoldingProxy } from '../holding-proxy.ts';
import { type IdentityProvider, startIdentityProvider } from '../identity-provider.ts';
import { startRecordingServer } from '../recording-server.ts';
import { startRedis } from '../redis.ts';

export interface KilledFigures {
  /** How often the process was killed. */
  readonly kills: number;
  /** How often what had been granted worked afterwards. */
  readonly usable: number;
  /** How often the user had to log in again, because the provider's answer had reached nobody. */
  readonly askedAgain: number;
  /** From the start of the next process to the first answer, in milliseconds. */
  readonly longestWait: number;
  /** Step by step. */
  readonly outcomes: readonly string[];
}

interface Stand extends AsyncDisposable {
  readonly gate: Boundaries;
  readonly proxy: HoldingProxy;
  readonly corp: IdentityProvider;
}

const SHORT = 2;
/** A lock that a dead process held opens by itself. */
const MOST_WAIT = 15_000;

async function startStand(accessTokenTtl: number): Promise<Stand> {
  const stack = new AsyncDisposableStack();
  try {
    const redis = stack.use(await startRedis());
    const proxy = stack.use(await startHoldingProxy(redis.port));
    const corp = stack.use(await startIdentityProvider({ name: 'corp', accessTokenTtl }));
    const notes = stack.use(await startRecordingServer({ era: 'modern' }));
    const gate = stack.use(
      await startBoundaries({
        providers: { corp },
        backends: {
          notes: { server: notes, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'corp' } } },
        },
        authServer: { storage: { type: 'redis', redis: { addr: proxy.address } } },
      }),
    );
    return { gate, proxy, corp, [Symbol.asyncDispose]: () => stack.disposeAsync() };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Kills the process, lets the store through again, and starts the next one. */
async function killAndStart({ gate, proxy }: Stand): Promise<void> {
  const [replica] = gate.replicas;
  await replica.kill();
  proxy.release();
  await replica.start();
}

/** `kill -9` at each write of a login: who was logged in stays so, and who was not can log in. `every` leaves steps out. */
export async function proveKilledLogin({ every }: { readonly every: number }): Promise<KilledFigures> {
  await using stand = await startStand(300);
  const { gate, proxy } = stand;
  const bob = await gate.login('bob');
  let [kills, usable, askedAgain] = [0, 0, 0];
  const outcomes: string[] = [];
  for (let step = 1; ; step += every) {
    const place: HoldAt = kills % 2 === 0 ? 'before' : 'after';
    const held = proxy.holdAt(place, step);
    const attempt = gate.login('alice').catch(() => undefined);
    const isThrough = await Promise.race([attempt.then(() => true), held.then(() => false)]);
    if (isThrough) {
      assert.ok(await attempt, 'a login without a kill succeeds');
      proxy.release();
      break;
    }
    await killAndStart(stand);
    kills += 1;
    const alice = await attempt;
    outcomes.push(`${place} write ${step}: ${alice ? 'usable' : 'asked again'}`);
    if (alice) {
      // The last answer had gone out before the process died.
      assert.equal(outcomeOf(await alice.call('notes_whoami')), 'ok', `the login stands after a kill at step ${step}`);
      usable += 1;
    } else {
      askedAgain += 1;
      const again = await gate.login('alice');
      assert.equal(outcomeOf(await again.call('notes_whoami')), 'ok', `a new login works after a kill at step ${step}`);
    }
    assert.equal(outcomeOf(await bob.call('notes_whoami')), 'ok', `an older login stands after a kill at step ${step}`);
  }
  return { kills, usable, askedAgain, longestWait: 0, outcomes };
}

/**
 * `kill -9` at each write of a refresh of our own token. The client has no other token than the one it came with, and comes again
 * with it: it never loses its login.
 */
export async function proveKilledOwnRefresh({ steps }: { readonly steps: readonly number[] }): Promise<KilledFigures> {
  await using stand = await startStand(300);
  const { gate, proxy } = stand;
  let [kills, usable, longestWait] = [0, 0, 0];
  const outcomes: string[] = [];
  for (const step of steps) {
    for (const place of ['before', 'after'] as const) {
      const alice = await gate.login('alice');
      const held = proxy.holdAt(place, step);
      const attempt = alice.refreshed().catch(() => undefined);
      const isThrough = await Promise.race([attempt.then(() => true), held.then(() => false)]);
      if (isThrough) {
        proxy.release();
        continue; // a refresh has fewer writes than that
      }
      await killAndStart(stand);
      kills += 1;
      const began = performance.now();
      const again = (await attempt) ?? (await alice.refreshed());
      longestWait = Math.max(longestWait, performance.now() - began);
      assert.ok(longestWait < MOST_WAIT, `somebody waited ${Math.round(longestWait)} ms after a kill`);
      assert.equal(outcomeOf(await again.call('notes_whoami')), 'ok', `the login stands after a kill at write ${step}`);
      usable += 1;
      outcomes.push(`${place} write ${step}: usable`);
    }
  }
  return { kills, usable, askedAgain: 0, longestWait: Math.round(longestWait), outcomes };
}

export type RefreshStep = { readonly at: 'provider' } | { readonly at: HoldAt; readonly step: number };

/**
 * `kill -9` while an upstream token is renewed. Afterwards the login works, unless the provider had answered and nobody had
 * stored it: then, and only then, the user is asked again.
 */
export async function proveKilledRefresh(steps: readonly RefreshStep[]): Promise<KilledFigures> {
  await using stand = await startStand(SHORT);
  const { gate, proxy, corp } = stand;
  let [kills, usable, askedAgain, longestWait] = [0, 0, 0, 0];
  const outcomes: string[] = [];
  for (const step of steps) {
    const alice = await gate.login('alice');
    await alice.seenBy('notes');
    await sleep(SHORT * 1000);
    const before = corp.refreshes.length;
    const asked = corp.calls('token');
    let held: Promise<unknown>;
    if (step.at === 'provider') {
      corp.faults.slow = 60_000;
      held = until(() => corp.calls('token') > asked);
    } else {
      held = proxy.holdAt(step.at, step.step);
    }
    const call = alice.call('notes_whoami').catch(() => undefined);
    const isThrough = await Promise.race([call.then(() => true), held.then(() => false)]);
    if (isThrough) {
      proxy.release();
      continue; // a refresh has fewer steps than that
    }
    delete corp.faults.slow;
    await killAndStart(stand);
    kills += 1;
    const wasAnswered = corp.refreshes.length > before;
    const began = performance.now();
    const outcome = outcomeOf(await alice.call('notes_whoami'));
    longestWait = Math.max(longestWait, performance.now() - began);
    assert.ok(longestWait < MOST_WAIT, `somebody waited ${Math.round(longestWait)} ms after a kill`);
    const where = step.at === 'provider' ? 'asking the provider' : `${step.at} write ${step.step}`;
    outcomes.push(
      `${where}${wasAnswered ? ' (provider had answered)' : ''}: ${outcome === 'ok' ? 'usable' : 'asked again'}`,
    );
    if (outcome === 'ok') {
      usable += 1;
      continue;
    }
    assert.equal(outcome, '401', `after a kill at ${JSON.stringify(step)} the login works or is asked for`);
    assert.ok(wasAnswered, `nothing was granted at ${JSON.stringify(step)} that could be lost`);
    askedAgain += 1;
    const again = await gate.login('alice');
    assert.equal(outcomeOf(await again.call('notes_whoami')), 'ok');
  }
  return { kills, usable, askedAgain, longestWait: Math.round(longestWait), outcomes };
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await sleep(10);
}
