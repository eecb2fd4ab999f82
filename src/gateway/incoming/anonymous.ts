import type { IncomingMessage } from 'node:http';
import { CallerRefused, type Identity } from '../call.ts';

const ANONYMOUS: Identity = Object.freeze({ kind: 'anonymous' });

/**
 * Everybody is nobody. Who shows a credential all the same expects it to be checked, and here it cannot be: it is refused
 * rather than ignored, so that a wrong one never gets further than a right one would.
 */
export function anonymous({ headers }: IncomingMessage): Identity {
  if (headers.authorization === undefined) return ANONYMOUS;
  throw new CallerRefused('incoming.token_unexpected', 'this endpoint is anonymous and takes no Authorization header', {
    error: 'invalid_request',
    scopes: [],
    dpop: false,
  });
}
