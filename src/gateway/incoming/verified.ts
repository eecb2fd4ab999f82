import { hash } from 'node:crypto';
import { Secret } from '../../base/index.ts';
import { createRecent, LEEWAY, type RefusalReason, type Verdict, type VerifiedToken } from '../../oauth/index.ts';
import type { User } from '../call.ts';

/** How long a token that was found good is taken at its word, in milliseconds. Keys that are withdrawn count again after that. */
const TRUSTED_FOR = 60_000;
const REMEMBERED = 20_000;

export interface TokenCheck {
  /** What was found out a moment ago about a good token. */
  known(token: string): Good | undefined;
  check(token: string): Promise<Checked>;
}

export type Checked = Good | { readonly ok: false; readonly reason: RefusalReason };

export interface Good {
  readonly ok: true;
  readonly user: User;
  /** The thumbprint of the one key whose owner may use the token. */
  readonly boundTo: string | undefined;
}

/**
 * Remembers good tokens. A new one costs one check, however many requests bring it at the same time; a known one a hash and a
 * lookup. What was refused is not remembered here: nobody can push good tokens out with bad ones. Each check has a memory of its
 * own: a token that is good for one issuer and audience says nothing about another.
 */
export function rememberVerified(
  check: (token: string) => Promise<Verdict>,
  now: () => number,
  toUser: (token: string, verified: VerifiedToken) => User | undefined = userOf,
): TokenCheck {
  const known = createRecent<{ readonly good: Good; readonly until: number }>(REMEMBERED);
  const underWay = new Map<string, Promise<Checked>>();

  async function checkNow(key: string, token: string): Promise<Checked> {
    try {
      const verdict = await check(token);
      if (!verdict.ok) return verdict;
      const user = toUser(token, verdict.token);
      if (!user) return { ok: false, reason: 'it is malformed' };
      const good = { ok: true, user, boundTo: verdict.token.boundTo } as const;
      known.set(key, { good, until: Math.min(user.expiresAt + LEEWAY, now() + TRUSTED_FOR) });
      return good;
    } finally {
      underWay.delete(key);
    }
  }

  const keyFor = (token: string): string => hash('sha256', token, 'base64');

  return {
    known(token) {
      const entry = known.get(keyFor(token));
      return entry !== undefined && entry.until > now() ? entry.good : undefined;
    },
    check(token) {
      const key = keyFor(token);
      const checking = underWay.get(key) ?? checkNow(key, token);
      underWay.set(key, checking);
      return checking;
    },
  };
}

export function userOf(token: string, { boundTo: _, ...verified }: VerifiedToken): User {
  return Object.freeze({ kind: 'user', ...verified, token: new Secret(token) });
}
