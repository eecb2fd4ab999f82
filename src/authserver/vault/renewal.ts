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
  /** The names of a lock, one for each secret, which tell nothing about whose login it is. */
  readonly lockNames: (grantId: string, provider: string) => readonly string[];
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

/** A process that died in the middle keeps others away for this long, in seconds. */
const LOCKED = 10;
/** In milliseconds, as all that follow. Well within the time above, so that one that is at work keeps its lock. */
const KEEP_LOCKED = 3_000;
const WAIT_FOR_OTHERS = 20_000;
const LOOK_AGAIN = 100;
/** A provider that failed is left alone for so long. */
const PAUSE = 3_000;
const REMEMBERED = 20_000;

/**
 * Presents refresh tokens, each of them once among all processes: under a lock, after another look, and with what came back
 * stored before anything else is done with it.
 */
export function createRenewal({ saving, upstreams, locks, lockNames, log }: RenewalParts): Renewal {
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
    const names = lockNames(grantId, provider);
    const deadline = performance.now() + WAIT_FOR_OTHERS;
    for (;;) {
      const unlock = await lock(names);
      try {
        const found = await find(place);
        if (isOther(found.entry, stale)) return found.entry; // somebody else did it meanwhile
        if (unlock) return await present(place, upstream, found, useless, unlock);
      } finally {
        // What waits to be stored keeps others away from a refresh token that is used up.
        if (!saving.isWaiting(place)) unlock?.();
      }
      if (performance.now() > deadline) throw unavailable(provider, undefined);
      await sleep(LOOK_AGAIN);
    }
  }

  /** Under all names: while secrets are replaced, processes have only one of them in common. Gives what opens it again. */
  async function lock(names: readonly string[]): Promise<(() => void) | undefined> {
    const held: [name: string, token: string][] = [];
    // A lock that nobody can open opens by itself.
    const unlock = (): void => {
      for (const [name, token] of held) locks.unlock(name, token).catch(() => {});
    };
    for (const name of names) {
      const token = await locks.lock(name, LOCKED);
      if (token === undefined) {
        unlock();
        return undefined;
      }
      held.push([name, token]);
    }
    const timer = setInterval(() => {
      for (const [name, token] of held) locks.extend(name, token, LOCKED).catch(() => {}); // the next time, then
    }, KEEP_LOCKED).unref();
    return () => {
      clearInterval(timer);
      unlock();
    };
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
      const isKept = await place.rows.replace(place.owner, found, useless ? { ...rest, expiresAt: 0 } : rest);
      // Somebody has logged in anew meanwhile, or stored what this refresh token brought before.
      const other = isKept ? undefined : (await find(place)).entry;
      if (other && isOther(other, found.entry)) return other;
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
    const save = async (before: FoundEntry, after: VaultEntry): Promise<VaultEntry> => {
      const saved = await saving.save(place, before, after, unlock);
      if (!saved) throw loginNeeded(place.provider); // the login has ended meanwhile
      return saved;
    };
    if (!check) return await save(found, next);
    // The refresh token is safe before the ID token is looked at. Nobody can use the new access token yet.
    await save(found, rotated);
    const idToken = await check();
    return await save(await find(place), { ...next, idToken });
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
