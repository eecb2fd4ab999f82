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

/** More are not begun: whoever ends logins in masses must not make us a nuisance for a provider. */
const MOST_UNDERWAY = 100;
const CLOSE_WITHIN = 3_000;

export function createRevocations({ upstreams, log }: RevocationParts): Revocations {
  const underway = new Set<Promise<void>>();

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

  return {
    revoke(provider, entry) {
      if (underway.size >= MOST_UNDERWAY) {
        log.warn('upstream.revocation_failed', { provider, error: 'too many are under way' });
        return;
      }
      const told = tell(provider, entry).finally(() => underway.delete(told));
      underway.add(told);
    },
    async close() {
      await Promise.race([Promise.all(underway), sleep(CLOSE_WITHIN, undefined, { ref: false })]);
    },
  };
}
