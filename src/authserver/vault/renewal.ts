import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../base/index.ts';
import { createRecent } from '../../oauth/index.ts';
import { type Upstream, UpstreamError } from '../../oauth/upstream/index.ts';
import type { Locks } from '../storage/locks.ts';
import { isFinal, loginNeeded, unavailable } from './errors.ts';
import type { Place } from './place.ts';
import type { Saving } from './saving.ts';
import type { FoundEntry, VaultEntry } from './vault.ts';

export interface RenewalParts {
  readonly saving: Saving;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly locks: Locks;
  /** The name of a lock, which tells nothing about whose login it is. */
  readonly lockName: (grantId: string, provider: string) => string;
  readonly log: Log;
}

export interface Renewal {
  /** The entry that is good now. */
  find(place: Place): Promise<FoundEntry>;
  /**
   * Another entry than the one that is stale. `useless` says that the stale one serves nobody any more; otherwise it is kept
   * when there can be no other.
   */
  renew(place: Place, stale: VaultEntry, useless: boolean): Promise<VaultEntry>;
}

/** Longer than a provider may take for what it is asked until its answer is stored, in seconds. */
const LOCKED = 40;
const WAIT_FOR_OTHERS = 20_000;
const LOOK_AGAIN = 100;
/** A provider that failed is left alone for so long. */
const PAUSE = 3_000;
const REMEMBERED = 20_000;

/**
 * Presents refresh tokens, each of them once among all processes: under a lock, after another look, and with what came back
 * stored before anything else is done with it.
 */
export function createRenewal({ saving, upstreams, locks, lockName, log }: RenewalParts): Renewal {
  const underway = new Map<string, Promise<VaultEntry>>();
  const pausedUntil = createRecent<number>(REMEMBERED);

  async function find(place: Place): Promise<FoundEntry> {
    const found = await saving.newest(place);
    // Row 38: a provider of the same name somewhere else is another one, and so are its tokens.
    if (!found || upstreams.get(place.provider)?.issued(found.entry.source) !== true) throw loginNeeded(place.provider);
    return found;
  }

  async function renew(place: Place, stale: VaultEntry, useless: boolean): Promise<VaultEntry> {
    const { provider, grantId } = place;
    const upstream = upstreams.get(provider);
    if (!upstream || !stale.refreshToken) throw loginNeeded(provider);
    if ((pausedUntil.get(place.key) ?? 0) > performance.now()) throw unavailable(provider, undefined);
    const name = lockName(grantId, provider);
    const deadline = performance.now() + WAIT_FOR_OTHERS;
    for (;;) {
      const held = await locks.lock(name, LOCKED);
      const unlock = (): void => {
        // One that cannot be opened now opens by itself.
        if (held !== undefined) locks.unlock(name, held).catch(() => {});
      };
      try {
        const found = await find(place);
        if (isOther(found.entry, stale)) return found.entry; // somebody else did it meanwhile
        if (held !== undefined) return await present(place, upstream, found, useless, unlock);
      } finally {
        // What waits to be stored keeps others away from a refresh token that is used up.
        if (!saving.isWaiting(place)) unlock();
      }
      if (performance.now() > deadline) throw unavailable(provider, undefined);
      await sleep(LOOK_AGAIN);
    }
  }

  async function present(
    place: Place,
    upstream: Upstream,
    found: FoundEntry,
    useless: boolean,
    unlock: () => void,
  ): Promise<VaultEntry> {
    const { provider } = place;
    try {
      const entry = await exchange(place, upstream, found, unlock);
      log.info('upstream.refreshed', { provider });
      return entry;
    } catch (error) {
      if (!(error instanceof UpstreamError)) throw error;
      log.warn('upstream.refresh_failed', { provider, error });
      if (!isFinal(error)) {
        pausedUntil.set(place.key, performance.now() + PAUSE);
        throw unavailable(provider, error);
      }
      // It is not presented again. The access token may still be good for a while.
      const { refreshToken: _spent, renewAt: _never, ...rest } = found.entry;
      await place.rows.replace(place.owner, found, useless ? { ...rest, expiresAt: 0 } : rest);
      throw loginNeeded(provider);
    }
  }

  async function exchange(
    place: Place,
    upstream: Upstream,
    found: FoundEntry,
    unlock: () => void,
  ): Promise<VaultEntry> {
    const { entry } = found;
    const { subject, scopes, source, refreshToken } = entry;
    if (!refreshToken) throw loginNeeded(place.provider);
    const { tokens, check } = await upstream.refresh({ refreshToken, subject, scopes, source });
    // Providers that do not rotate say nothing about the refresh token: the old one stays.
    const rotated = { ...entry, refreshToken: tokens.refreshToken ?? refreshToken };
    const { expiresAt: _old, renewAt: _older, ...kept } = rotated;
    const next: VaultEntry = { ...kept, ...tokens, refreshToken: rotated.refreshToken };
    if (!check) return await saving.save(place, found, next, unlock);
    // The refresh token is safe before the ID token is looked at. Nobody can use the new access token yet.
    await saving.save(place, found, rotated, unlock);
    const idToken = await check();
    return await saving.save(place, await find(place), { ...next, idToken }, unlock);
  }

  return {
    find,
    renew(place, stale, useless) {
      const waiting = underway.get(place.key);
      if (waiting) return waiting;
      const began = renew(place, stale, useless).finally(() => underway.delete(place.key));
      underway.set(place.key, began);
      return began;
    },
  };
}

function isOther(one: VaultEntry, other: VaultEntry): boolean {
  return one.accessToken.reveal() !== other.accessToken.reveal();
}
