import type { Log } from '../base/index.ts';
import { createRecent } from '../oauth/index.ts';
import type { Broadcast } from './storage/broadcast.ts';
import { grantGroup, KIND } from './storage/kinds.ts';
import type { Records } from './storage/records.ts';

export interface GrantParts {
  readonly records: Records;
  readonly broadcast: Broadcast;
  /** Looks at what goes with a grant before it does, and gives what is left to do once it is gone. */
  readonly ending: (grantId: string) => Promise<() => void>;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** Logins that stand, among all processes that share the store. */
export interface Grants {
  /** Every call of a user asks it. The answer is there at once in memory, and mostly with a store elsewhere. */
  isLive(grantId: string): boolean | Promise<boolean>;
  /** Ends a login with everything that came of it, here and in every other process. */
  end(grantId: string): Promise<void>;
  /** Hears of logins that are ended here, and of those ended elsewhere that were used here a moment ago. */
  onEnded(listener: (grantId: string) => void): () => void;
  close(): void;
}

const CHANNEL = 'ended-grants';
/** How long a login counts without another look, although nobody said that it ended: words can get lost. In milliseconds. */
const TRUSTED = 30_000;
const REMEMBERED = 20_000;

interface Live {
  readonly grantId: string;
  until: number;
}

export function createGrants({ records, broadcast, ending, log, now }: GrantParts): Grants {
  const rows = records.rows(KIND.grant);
  const keys = createRecent<readonly string[]>(REMEMBERED);
  /** By each of their storage keys, which are what processes tell each other: they say nothing to whoever listens. */
  const live = new Map<string, Live>();
  const underway = new Map<string, Promise<void>>();
  const listeners = new Set<(grantId: string) => void>();
  let isListening = false;
  /** Counts what was heard: an answer of the store that is older than a word says nothing. */
  let heard = 0;

  const stop = broadcast.subscribe(CHANNEL, {
    listening(isNow) {
      isListening = isNow;
      heard += 1;
      live.clear();
    },
    heard(text) {
      heard += 1;
      for (const key of text.split(' ')) {
        const entry = live.get(key);
        if (!entry || entry.until === 0) continue;
        entry.until = 0;
        tell(entry.grantId);
      }
    },
  });

  /** The login has ended, whatever a listener makes of it: whoever ended it, and the other processes, must hear so. */
  function tell(grantId: string): void {
    for (const listener of listeners) {
      try {
        listener(grantId);
      } catch (error) {
        log.error('what belongs to a login that ended was not closed', { error });
      }
    }
  }

  function keysOf(grantId: string): readonly string[] {
    const known = keys.get(grantId);
    if (known) return known;
    const made = grantGroup(records, grantId).keys;
    keys.set(grantId, made);
    return made;
  }

  async function look(grantId: string, asked: Promise<boolean>): Promise<boolean> {
    const before = heard;
    const isLive = await asked;
    if (!isLive || !isListening || heard !== before) return isLive;
    if (live.size >= REMEMBERED) live.clear();
    const entry = { grantId, until: now() + TRUSTED };
    for (const key of keysOf(grantId)) live.set(key, entry);
    return true;
  }

  async function end(grantId: string): Promise<void> {
    const afterwards = await ending(grantId);
    const group = grantGroup(records, grantId);
    await records.removeGroup(group);
    afterwards();
    tell(grantId);
    try {
      await broadcast.publish(CHANNEL, group.keys.join(' '));
    } catch (error) {
      log.warn('other processes do not know yet that a login ended', { within: TRUSTED / 1000, error });
    }
  }

  return {
    isLive(grantId) {
      const entry = live.get(keysOf(grantId)[0] ?? '');
      if (entry && entry.until > now()) return true;
      const found = rows.has(grantId);
      return typeof found === 'boolean' ? found : look(grantId, found);
    },
    /** The library asks for each of its models at the same time. */
    end(grantId) {
      const begun = underway.get(grantId) ?? end(grantId).finally(() => underway.delete(grantId));
      underway.set(grantId, begun);
      return begun;
    },
    onEnded(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: stop,
  };
}
