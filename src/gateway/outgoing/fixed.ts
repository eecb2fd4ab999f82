import type { Secret } from '../../base/index.ts';
import type { Credential } from '../call.ts';

const NO_HEADERS = Object.freeze({});

/** Nothing: the server is open, or guarded by the network. */
export const none: Credential = { headers: () => NO_HEADERS };

/** The same header for every user, such as an API key. */
export function fixedHeader(name: string, value: Secret): Credential {
  const headers = Object.freeze({ [name]: value.reveal() });
  return { headers: () => headers };
}
