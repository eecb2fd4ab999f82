import type { Log } from '../../base/index.ts';
import { nameOfGrant } from '../library/audit.ts';
import type { LoginRecord } from '../logins.ts';
import type { Broadcast } from '../storage/broadcast.ts';
import type { FreshTokens } from './fresh.ts';
import type { Revocations } from './revocations.ts';
import type { Vault } from './vault.ts';

/** Takes away what a login has at one provider, here and at the provider. `by` goes to the log. */
export type Disconnect = (login: LoginRecord, provider: string, by: string) => Promise<void>;

export interface DisconnectParts {
  readonly server: string;
  readonly vault: Vault;
  readonly fresh: Pick<FreshTokens, 'forget'>;
  readonly revocations: Pick<Revocations, 'revoke'>;
  readonly broadcast: Broadcast;
  readonly log: Log;
}

const CHANNEL = 'disconnected';

export interface Disconnection {
  readonly disconnect: Disconnect;
  close(): void;
}

/**
 * Processes remember tokens for a moment. It is rare that one is taken away, so each of them forgets all it remembers and looks
 * again: nothing about whose it was has to be told. The same goes for words that may have been missed.
 */
export function createDisconnect(parts: DisconnectParts): Disconnection {
  const { server, vault, fresh, revocations, broadcast, log } = parts;
  const stop = broadcast.subscribe(CHANNEL, { heard: () => fresh.forget(), listening: () => fresh.forget() });
  return {
    async disconnect({ grantId, client, user }, provider, by) {
      const entry = await vault.of(grantId).release(provider, { clientId: client.id, userId: user.id });
      fresh.forget();
      if (!entry) return;
      revocations.revoke(provider, entry);
      log.info('upstream.disconnected', { server, provider, user: user.id, grant: nameOfGrant(grantId), by });
      try {
        await broadcast.publish(CHANNEL, '');
      } catch (error) {
        log.warn('other processes may use a token for a moment that was taken away', { provider, error });
      }
    },
    close: stop,
  };
}
