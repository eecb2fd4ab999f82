import type { JSONWebKeySet } from 'jose';
import { codeOf } from '../base/index.ts';
import { loadJose } from './jose.ts';
import type { KeyLookup } from './jwt.ts';
import { unavailable } from './unavailable.ts';

/** After this long the keys are read again beside the requests. In milliseconds, as all of these. */
const FRESH = 5 * 60_000;
/** After this long a request waits for them, and still gets by with the old ones when that fails. */
const STALE = 10 * 60_000;
/** How long the last good keys outlive an issuer that does not answer. Tokens rarely live longer, and nobody gets new ones. */
const KEPT = 60 * 60_000;
/** A token can name any key: what it names is not looked for more often than this. */
const COOLDOWN = 30_000;
/** Without any keys at all we are more eager. */
const RETRY = 5_000;

export interface KeySetParts {
  readonly read: () => Promise<unknown>;
  readonly now: () => number;
  /** Is told each time that reading failed. */
  readonly onFailure: (error: unknown) => void;
}

interface Keys {
  readonly find: KeyLookup;
  readonly readAt: number;
}

/** The published keys of an issuer, kept up to date: a key that is new there is found here, and one that is gone there is gone here. */
export function createKeySet({ read, now, onFailure }: KeySetParts): KeyLookup {
  let keys: Keys | undefined;
  let triedAt = Number.NEGATIVE_INFINITY;
  let failure: unknown;
  let reading: Promise<void> | undefined;

  async function readNow(): Promise<void> {
    try {
      const [set, { createLocalJWKSet }] = await Promise.all([read() as Promise<JSONWebKeySet>, loadJose()]);
      keys = { find: createLocalJWKSet(set), readAt: now() };
      failure = undefined;
    } catch (error) {
      failure = error;
      onFailure(error);
    } finally {
      triedAt = now();
      reading = undefined;
    }
  }

  /** One reading serves everybody who waits for it. */
  function readUnless(triedWithin: number): Promise<void> | undefined {
    if (!reading && now() - triedAt > triedWithin) reading = readNow();
    return reading;
  }

  async function current(): Promise<Keys> {
    const age = keys ? now() - keys.readAt : Number.POSITIVE_INFINITY;
    if (age > KEPT) await readUnless(RETRY);
    else if (age > STALE) await readUnless(COOLDOWN);
    else if (age > FRESH) void readUnless(COOLDOWN); // readNow never rejects
    if (keys && now() - keys.readAt <= KEPT) return keys;
    throw unavailable('there are no keys of the issuer', failure);
  }

  return async (header, token) => {
    const { find } = await current();
    try {
      return await find(header, token);
    } catch (error) {
      if (codeOf(error) !== 'ERR_JWKS_NO_MATCHING_KEY') throw error;
      await readUnless(COOLDOWN);
      // The issuer may have published the key since; while it does not answer, nobody knows.
      if (failure !== undefined) throw unavailable('the key may be newer than what we know', failure);
      return await (await current()).find(header, token);
    }
  };
}
