/**
 * Boundary 1: who is asking. It finds an identity or refuses; it never falls back to a lesser one. It looks at the
 * `Authorization` header (and the DPoP proof beside it) and at nothing else a client or a proxy may claim.
 */

export { type Checkers, createCheckers } from './checkers.ts';
export type { OwnTokens } from './embedded.ts';
export { createIncoming, type Identify } from './incoming.ts';
