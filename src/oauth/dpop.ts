import { createHash } from 'node:crypto';
import type { JWK } from 'jose';
import { loadJose } from './jose.ts';
import { ALGORITHMS } from './jwt.ts';
import { unavailable } from './unavailable.ts';

/** How far the clock of a client may be off, in milliseconds, each way. */
const WINDOW = 5 * 60_000;
/** More proofs than this are not remembered; a proof that cannot be remembered is not taken. */
const MAX_PROOFS = 200_000;

export interface ProofOf {
  readonly proof: string;
  readonly accessToken: string;
  /** The thumbprint of the key that the token is bound to. */
  readonly boundTo: string | undefined;
  readonly method: string;
  /** The URLs that clients may know this request by. */
  readonly urls: readonly string[];
}

export type ProofVerdict = { readonly ok: true } | { readonly ok: false; readonly reason: ProofRefusal };

type ProofRefusal =
  | 'the proof of its key is wrong'
  | 'the proof of its key was used before'
  | 'it is bound to another key, or to none';

/** Checks that who sends a token holds the key it is bound to (RFC 9449 §4.3), once for each proof. */
export function createProofs(now: () => number, most = MAX_PROOFS): (request: ProofOf) => Promise<ProofVerdict> {
  const isNew = createReplayMemory(now, most);

  return async function checkProof({ proof, accessToken, boundTo, method, urls }) {
    const wrong = { ok: false, reason: 'the proof of its key is wrong' } as const;
    const { calculateJwkThumbprint, EmbeddedJWK, jwtVerify } = await loadJose();
    let id: string;
    try {
      const { payload, protectedHeader } = await jwtVerify(proof, EmbeddedJWK, {
        typ: 'dpop+jwt',
        algorithms: [...ALGORITHMS],
        currentDate: new Date(now()),
        requiredClaims: ['jti', 'htm', 'htu', 'iat', 'ath'],
      });
      const { jti, htm, htu, iat = 0, ath } = payload;
      if (typeof jti !== 'string' || jti === '' || jti.length > 256 || htm !== method) return wrong;
      if (typeof htu !== 'string' || !urls.some((url) => isSameTarget(url, htu))) return wrong;
      if (Math.abs(now() - iat * 1000) > WINDOW) return wrong;
      if (ath !== createHash('sha256').update(accessToken).digest('base64url')) return wrong;
      const thumbprint = await calculateJwkThumbprint(protectedHeader.jwk as JWK);
      // Before it is remembered: keys that no token is bound to can be made up without end.
      if (thumbprint !== boundTo) return { ok: false, reason: 'it is bound to another key, or to none' };
      id = `${thumbprint} ${jti}`;
    } catch {
      return wrong; // whatever the library did not like about it
    }
    return isNew(id) ? { ok: true } : { ok: false, reason: 'the proof of its key was used before' };
  };
}

/** RFC 9449 §4.3: the target URI without query and fragment, both sides normalised alike. */
function isSameTarget(ours: string, theirs: string): boolean {
  return target(ours) !== undefined && target(ours) === target(theirs);
}

function target(text: string): string | undefined {
  const url = URL.parse(text);
  return url ? `${url.origin}${url.pathname}` : undefined;
}

/** Each generation lives for as long as a proof can be good; so whatever could be used again is in one of the two. */
function createReplayMemory(now: () => number, most: number): (id: string) => boolean {
  let young = new Set<string>();
  let old = new Set<string>();
  let turnAt = now() + 2 * WINDOW;

  return function isNew(id) {
    if (now() >= turnAt) {
      old = now() >= turnAt + 2 * WINDOW ? new Set() : young;
      young = new Set();
      turnAt = now() + 2 * WINDOW;
    }
    const key = createHash('sha256').update(id).digest('base64');
    if (young.has(key) || old.has(key)) return false;
    if (young.size >= most) throw unavailable('more proofs of keys came than can be remembered');
    young.add(key);
    return true;
  };
}
