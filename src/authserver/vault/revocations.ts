import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '../../base/index.ts';
import type { Upstream } from '../../oauth/upstream/index.ts';
import type { VaultEntry } from './vault.ts';

export interface RevocationParts {
  readonly upstreams: ReadonlyMap<string, Upstream>;
  readonly log: Log;
}

/** Tells providers that tokens are not needed any more (RFC 7009). Nobody waits for it: a login has ended with us already. */
export interface Revocations {
  revoke(provider: string, entry: VaultEntry): void;
  /** Waits a moment for those that are under way. */
  close(): Promise<void>;
}

/** Whoever ends logins in masses must not make us a nuisance for a provider: so many are told at a time, the others wait. */
const AT_ONCE = 5;
const MOST_WAITING = 10_000;
const CLOSE_WITHIN = 3_000;

interface Queue {
  readonly waiting: VaultEntry[];
  readonly working: Set<Promise<void>>;
}

export function createRevocations({ upstreams, log }: RevocationParts): Revocations {
  /** Each provider has its own: one that does not answer holds up nobody else. */
  const queues = new Map<string, Queue>(
    [...upstreams.keys()].map((name) => [name, { waiting: [], working: new Set() }]),
  );

  /** The refresh token first: with it the provider ends what came of it, access tokens in most cases included. */
  async function tell(provider: string, { refreshToken, accessToken, source }: VaultEntry): Promise<void> {
    const upstream = upstreams.get(provider);
    if (!upstream?.issued(source)) return;
    try {
      let isTold = false;
      for (const token of [refreshToken, accessToken]) if (token) isTold = await upstream.revoke(token, source);
      if (isTold) log.info('upstream.revoked', { provider });
    } catch (error) {
      log.warn('upstream.revocation_failed', { provider, error });
    }
  }

  async function work(provider: string, { waiting }: Queue): Promise<void> {
    for (let next = waiting.shift(); next; next = waiting.shift()) await tell(provider, next);
  }

  return {
    revoke(provider, entry) {
      const queue = queues.get(provider);
      if (!queue) return;
      const { waiting, working } = queue;
      if (waiting.length >= MOST_WAITING) {
        log.warn('upstream.revocation_failed', { provider, error: 'too many are waiting' });
        return;
      }
      waiting.push(entry);
      if (working.size >= AT_ONCE) return;
      const worker = work(provider, queue).finally(() => working.delete(worker));
      working.add(worker);
    },
    async close() {
      const working = [...queues.values()].flatMap((queue) => [...queue.working]);
      await Promise.race([Promise.all(working), sleep(CLOSE_WITHIN, undefined, { ref: false })]);
      const lost = [...queues.values()].reduce((sum, { waiting }) => sum + waiting.length, 0);
      if (lost > 0) log.warn('upstream.revocation_failed', { error: 'there was no time left', tokens: lost });
    },
  };
}
