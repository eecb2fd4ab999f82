import { LEEWAY } from '../oauth/index.ts';
import type { Incoming } from './clients/index.ts';

/** Streams that stay open. They must not outlive what let their callers in: they end with the token, and with the login. */
export interface Standing {
  watch(incoming: Incoming): void;
  /** A login has ended: so do its streams. */
  end(grant: string): void;
}

/** The longest that Node waits, in milliseconds. */
const LONGEST_WAIT = 2 ** 31 - 1;

export function createStanding(now: () => number): Standing {
  const byGrant = new Map<string, Set<Incoming['outlet']>>();
  return {
    watch({ identity, outlet }) {
      if (identity.kind === 'anonymous') return;
      // Its client comes back with a new token, and misses nothing.
      const left = identity.expiresAt + LEEWAY - now();
      const timer = setTimeout(() => outlet.end(), Math.min(left, LONGEST_WAIT)).unref();
      const { grant } = identity;
      const open = grant === undefined ? undefined : (byGrant.get(grant) ?? new Set());
      if (grant !== undefined && open) byGrant.set(grant, open.add(outlet));
      outlet.onClose(() => {
        clearTimeout(timer);
        open?.delete(outlet);
        if (grant !== undefined && open?.size === 0 && byGrant.get(grant) === open) byGrant.delete(grant);
      });
    },
    end(grant) {
      for (const outlet of byGrant.get(grant) ?? []) outlet.end();
    },
  };
}
