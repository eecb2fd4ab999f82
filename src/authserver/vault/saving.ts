import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../base/index.ts';
import type { Place } from './place.ts';
import type { FoundEntry, VaultEntry } from './vault.ts';

export interface SavingParts {
  readonly log: Log;
  /** New tokens of a login that ended meanwhile. */
  readonly orphaned: (provider: string, entry: VaultEntry) => void;
}

/** Tokens on their way into the vault. A provider gives them once, so they are not let go of because the store is away. */
export interface Saving {
  /** What was found, or newer tokens that could not be stored yet. */
  newest(place: Place): Promise<FoundEntry | undefined>;
  /**
   * Puts an entry in place of the one that was found, and gives what is there now: somebody may have logged in anew meanwhile, or
   * the login has ended. When the store stays away the entry counts all the same, and `stored` runs when it is stored later.
   */
  save(place: Place, found: FoundEntry, next: VaultEntry, stored: () => void): Promise<VaultEntry | undefined>;
  /** Whether an entry waits to be stored. */
  isWaiting(place: Place): boolean;
  /** Tries once more to store what waits, for a few seconds. */
  close(): Promise<void>;
}

/** Milliseconds. Most outages are over by then; a failover of Redis takes a second or two. */
const ATTEMPTS = [0, 100, 400];
const TRY_AGAIN = 500;
const CLOSE_WITHIN = 5_000;

interface Waiting {
  readonly place: Place;
  readonly found: FoundEntry;
  readonly next: VaultEntry;
  readonly stored: () => void;
}

export function createSaving({ log, orphaned }: SavingParts): Saving {
  const waiting = new Map<string, Waiting>();
  let timer: NodeJS.Timeout | undefined;

  /** Throws when the store does not answer. */
  async function put({ place, found, next }: Omit<Waiting, 'stored'>): Promise<VaultEntry | undefined> {
    const { rows, owner, provider } = place;
    if (await rows.replace(owner, found, next)) return next;
    const other = await rows.find(provider, owner);
    // A new login is newer than what a refresh of the old one brought.
    if (other) return other.entry;
    orphaned(provider, next);
    return undefined;
  }

  async function flush(): Promise<void> {
    for (const [key, one] of [...waiting]) {
      try {
        await put(one);
        one.stored();
        if (waiting.get(key) === one) waiting.delete(key);
        log.info('a new upstream token is stored', { provider: one.place.provider });
      } catch {
        return; // the store is still away, and what waits goes on waiting
      }
    }
  }

  function tryAgain(): void {
    timer ??= setTimeout(async () => {
      timer = undefined;
      await flush();
      if (waiting.size > 0) tryAgain();
    }, TRY_AGAIN).unref();
  }

  return {
    async newest(place) {
      const { key, rows, provider, owner } = place;
      const one = waiting.get(key);
      return one ? { ...one.found, entry: one.next } : await rows.find(provider, owner);
    },
    isWaiting: ({ key }) => waiting.has(key),
    async save(place, found, next, stored) {
      const one = { place, found, next, stored };
      let reason: unknown;
      for (const pause of ATTEMPTS) {
        if (pause > 0) await sleep(pause);
        try {
          const now = await put(one);
          waiting.delete(place.key);
          return now;
        } catch (error) {
          reason = error;
        }
      }
      log.error('a new upstream token cannot be stored and is kept in memory', {
        provider: place.provider,
        error: reason,
      });
      waiting.set(place.key, one);
      tryAgain();
      return next;
    },
    async close() {
      const until = performance.now() + CLOSE_WITHIN;
      for (await flush(); waiting.size > 0 && performance.now() < until; await flush()) await sleep(TRY_AGAIN);
      clearTimeout(timer);
      if (waiting.size === 0) return;
      log.error('new upstream tokens were lost, their users have to log in', { logins: waiting.size });
      for (const { stored } of waiting.values()) stored();
      waiting.clear();
    },
  };
}
