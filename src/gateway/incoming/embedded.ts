import { type KeyLookup, type VerifiedToken, verifyJwt } from '../../oauth/index.ts';
import type { EmbeddedPlan } from '../../plan/index.ts';
import type { User } from '../call.ts';
import type { Checker } from './checker.ts';
import { rememberVerified, userOf } from './verified.ts';

/** The tokens of the authorization server in this process, as boundary 1 needs to know them. */
export interface OwnTokens {
  readonly keys: KeyLookup;
  /** Has this login not been ended or revoked? Asked for every request, so it answers at once where it can. */
  isLive(grant: string): boolean | Promise<boolean>;
  /** Hears of logins that are ended here or elsewhere. Gives a function that stops it. */
  onEnded?(listener: (grant: string) => void): () => void;
}

/** The claim that names the login. It leads to stored credentials, so it stays between the two of us. */
const GRANT = 'tsid';

export function createEmbeddedChecker(plan: EmbeddedPlan, { keys }: OwnTokens, now: () => number): Checker {
  const { issuer, audience } = plan;
  return {
    ...rememberVerified(
      (token) => verifyJwt(token, { issuer, audience, keys, types: 'access-token', now }),
      now,
      withGrant,
    ),
    issuer: () => issuer,
    close: async () => {},
  };
}

/** A token of ours without a login is none. */
function withGrant(token: string, verified: VerifiedToken): User | undefined {
  const { [GRANT]: grant, ...claims } = verified.claims;
  if (typeof grant !== 'string' || grant === '') return undefined;
  return Object.freeze({ ...userOf(token, { ...verified, claims }), grant });
}
