import type { Log, Secret } from '../../base/index.ts';
import { createRecent } from '../../oauth/index.ts';
import type { Upstream } from '../../oauth/upstream/index.ts';
import type { Locks } from '../storage/locks.ts';
import { loginNeeded, unavailable } from './errors.ts';
import { keyOf, type Place, placeOf, type TokenOwner } from './place.ts';
import { createRenewal } from './renewal.ts';
import { createSaving } from './saving.ts';
import type { Vault, VaultEntry } from './vault.ts';

export interface FreshTokens {
  /**
   * A token that is good at this moment. `refused` is one that a server did not take: another one is wanted then, and the same
   * one comes back only when it is so young that it was not refused for its age.
   */
  accessToken(owner: TokenOwner, provider: string, refused: Secret | undefined): Secret | Promise<Secret>;
  /** Something was taken out of the vault: whatever is asked for next is looked up there. */
  forget(): void;
  close(): Promise<void>;
}

export interface FreshParts {
  readonly vault: Vault;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly locks: Locks;
  /** The names of a lock, one for each secret, which tell nothing about whose login it is. */
  readonly lockNames: (grantId: string, provider: string) => readonly string[];
  /** New tokens of a login that ended while they were on their way. */
  readonly orphaned: (provider: string, entry: VaultEntry) => void;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** How long a token is used without looking whether it is still the one that is kept, in milliseconds. */
const TRUSTED = 30_000;
/** The same, while a new one is on its way. */
const TRUSTED_MEANWHILE = 1_000;
const REMEMBERED = 20_000;
/** A server that refuses a token this young, or in the first half of its life, does not refuse it for its age. */
const YOUNG = 30_000;
/** How often another token is asked for in a row, when the one that came is to be renewed by the time it is there. */
const ROUNDS = 3;

interface Remembered {
  readonly token: Secret;
  readonly until: number;
}

/** Upstream tokens that are always good: renewed ahead of their end, so that nobody has to wait for it. */
export function createFreshTokens(parts: FreshParts): FreshTokens {
  const { vault, now } = parts;
  const saving = createSaving(parts);
  const renewal = createRenewal({ ...parts, saving });
  let recent = createRecent<Remembered>(REMEMBERED);
  /** Counts how often that was forgotten: what was looked up before says nothing afterwards. */
  let forgotten = 0;
  /** Until when a token that was renewed here counts as young. */
  const youngUntil = createRecent<number>(REMEMBERED);
  const underway = new Map<string, Promise<Secret>>();

  function once(key: string, work: () => Promise<Secret>): Promise<Secret> {
    const waiting = underway.get(key);
    if (waiting) return waiting;
    const began = work().finally(() => underway.delete(key));
    underway.set(key, began);
    return began;
  }

  const hasEnded = ({ expiresAt }: VaultEntry): boolean => milliseconds(expiresAt) <= now();
  const isDue = ({ refreshToken, renewAt }: VaultEntry): boolean => !!refreshToken && milliseconds(renewAt) <= now();

  /** For what was looked up when so much had been forgotten as `since` says. */
  function remember(since: number, { key }: Place, found: VaultEntry, trusted = TRUSTED): Secret {
    const { accessToken, renewAt, expiresAt } = found;
    const end = trusted === TRUSTED ? (renewAt ?? expiresAt) : expiresAt;
    const until = Math.min(now() + trusted, milliseconds(end));
    if (forgotten === since) recent.set(key, { token: accessToken, until });
    return accessToken;
  }

  async function load(place: Place): Promise<Secret> {
    const since = forgotten;
    return await use(since, place, (await renewal.find(place)).entry);
  }

  async function use(since: number, place: Place, entry: VaultEntry): Promise<Secret> {
    if (hasEnded(entry)) return await renewNow(place, entry);
    if (!isDue(entry)) return remember(since, place, entry);
    // It is still good: whoever calls goes on with it, and the next one finds the new one. Failures are in the log.
    renew(place, entry, false).catch(() => {});
    return remember(since, place, entry, TRUSTED_MEANWHILE);
  }

  async function replace(place: Place, refused: Secret): Promise<Secret> {
    const since = forgotten;
    const { entry } = await renewal.find(place);
    if (entry.accessToken.reveal() !== refused.reveal()) return await use(since, place, entry);
    if ((youngUntil.get(place.key) ?? 0) > now()) return entry.accessToken;
    return await renewNow(place, entry);
  }

  const renewNow = (place: Place, stale: VaultEntry): Promise<Secret> => renew(place, stale, true);

  async function renew(place: Place, stale: VaultEntry, useless: boolean): Promise<Secret> {
    const since = forgotten;
    let entry = await renewal.renew(place, stale, useless);
    // While a store is away, storing a token or waiting for who does so may take longer than the token lives.
    for (let round = 1; round < ROUNDS && isDue(entry); round++) {
      entry = await renewal.renew(place, entry, hasEnded(entry));
    }
    if (hasEnded(entry)) throw unavailable(place.provider, undefined);
    youngUntil.set(place.key, now() + Math.min(YOUNG, (milliseconds(entry.expiresAt) - now()) / 2));
    return remember(since, place, entry);
  }

  return {
    accessToken(owner, provider, refused) {
      const known = refused ? undefined : recent.get(keyOf(owner, provider));
      if (known && known.until > now()) return known.token;
      const place = placeOf(owner, provider, vault);
      if (!place) throw loginNeeded(provider);
      if (refused) return once(JSON.stringify([place.key, refused.reveal()]), () => replace(place, refused));
      return once(place.key, () => load(place));
    },
    forget() {
      forgotten += 1;
      recent = createRecent(REMEMBERED);
      underway.clear(); // those who wait already get what they asked for, the next one asks anew
    },
    close: () => saving.close(),
  };
}

/** Seconds since 1970 as milliseconds; what has no end never comes. */
function milliseconds(seconds: number | undefined): number {
  return seconds === undefined ? Number.POSITIVE_INFINITY : seconds * 1000;
}
