/**
 * The vocabulary of OAuth and OpenID Connect on the wire: tokens and their keys, discovery, introspection, proofs of possession,
 * and the calls to identity providers. It decides nothing about callers or users, and keeps no state of its own.
 */

export { createProofs, type ProofOf, type ProofVerdict } from './dpop.ts';
export { createExchange, type Exchange, type Exchanged, type SubjectTokenType } from './exchange.ts';
export { createFetch, type GuardedFetch } from './fetch.ts';
export { createIntrospection } from './introspection.ts';
export { createIssuer } from './issuer.ts';
export { ALGORITHMS, claimedIssuer, jwtHeader, type KeyLookup, LEEWAY, verifyJwt } from './jwt.ts';
export { createKeySet } from './key-set.ts';
export { generateSigningKey, keyLookup, parseSigningKey, type SigningKey, SigningKeyError } from './keys.ts';
export { createRecent } from './recent.ts';
export { unavailable } from './unavailable.ts';
export { type RefusalReason, refused, type Verdict, type VerifiedToken } from './verdict.ts';
