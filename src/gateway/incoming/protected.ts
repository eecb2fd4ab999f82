import type { IncomingMessage } from 'node:http';
import { type Log, SallyError } from '../../base/index.ts';
import type { RefusalReason } from '../../oauth/index.ts';
import type { ProtectedPlan } from '../../plan/index.ts';
import { CallerRefused, type Challenge, type User } from '../call.ts';
import { type Presented, readAuthorization, refuseMalformed } from './authorization.ts';
import type { Checker } from './checker.ts';
import type { Checkers } from './checkers.ts';
import type { OwnTokens } from './embedded.ts';
import { createSeldom } from './seldom.ts';
import type { Checked, Good } from './verified.ts';

export interface ProtectedParts {
  readonly endpoint: string;
  readonly checker: Checker;
  readonly checkProof: Checkers['checkProof'];
  /** Set where tokens belong to logins that can be ended. */
  readonly isLive?: OwnTokens['isLive'];
  /** The URLs that a client may know this request by. */
  readonly urlsOf: (request: IncomingMessage) => readonly string[];
  readonly log: Log;
  readonly now: () => number;
}

const HINTS: Partial<Record<RefusalReason, string>> = {
  'it comes from another issuer': 'the issuer is compared to the letter, a closing slash included',
  'it is meant for another audience': 'configure the audience that the issuer writes into aud',
  'it does not say which audience it is meant for': 'let the issuer add aud to its tokens and introspection answers',
  'it is opaque, and no introspection is configured': 'add a client id and secret, or an introspection URL',
};

/** Asks every request for a good token. There is no way around it: whatever is missing or wrong ends in a refusal. */
export function createProtected(
  plan: ProtectedPlan,
  parts: ProtectedParts,
): (request: IncomingMessage) => User | Promise<User> {
  const { checker, isLive, urlsOf, log, endpoint } = parts;
  const seldom = createSeldom(parts.now);
  const wanted = plan.requiredScopes.length > 0 ? plan.requiredScopes : plan.scopes;
  const scopes = wanted.filter((scope) => scope !== 'offline_access');

  function missing(): CallerRefused {
    const challenge: Challenge = { scopes, dpop: false };
    return new CallerRefused('incoming.token_missing', 'this endpoint asks for a token', challenge);
  }

  /** The reason is for the log. The wire gets one message for all of them: it would teach how to forge. */
  function refusal(reason: RefusalReason, challenge: Partial<Challenge> = {}): CallerRefused {
    const more = seldom(reason);
    const hint = HINTS[reason];
    const fields = { endpoint, reason, ...(more ? { more } : {}), ...(hint === undefined ? {} : { hint }) };
    if (more === undefined) log.debug('a token was refused', fields);
    else log.info('a token was refused', fields);
    return new CallerRefused('incoming.token_refused', 'the token is expired, revoked or not meant for this server', {
      error: 'invalid_token',
      scopes,
      dpop: false,
      ...challenge,
    });
  }

  /** An issuer that does not answer is our trouble: it is written down, and the caller may try again. */
  function note(error: unknown): never {
    if (error instanceof SallyError && error.code === 'incoming.unavailable') {
      const more = seldom(error.code);
      if (more !== undefined) log.warn('tokens cannot be checked', { endpoint, error, ...(more ? { more } : {}) });
    }
    throw error;
  }

  /** What can be said at once, and it is everything that most requests need. */
  function admit(good: Good, { scheme }: Presented): User {
    const { user, boundTo } = good;
    if (boundTo !== undefined && scheme === 'bearer')
      throw refusal('it is bound to a key and came without a proof', { dpop: true });
    if (plan.requiredScopes.every((scope) => user.scopes.includes(scope))) return user;
    throw new CallerRefused('incoming.scope_missing', 'the token lacks scopes that this endpoint asks for', {
      error: 'insufficient_scope',
      scopes: plan.requiredScopes,
      dpop: scheme === 'dpop',
    });
  }

  async function checkSlowly(
    request: IncomingMessage,
    presented: Presented,
    checking: Promise<Checked> | Checked,
    live?: Promise<boolean>,
  ) {
    const checked = await Promise.resolve(checking).catch(note);
    const dpop = presented.scheme === 'dpop';
    if (!checked.ok) throw refusal(checked.reason, { dpop });
    if (dpop) await checkProof(request, presented.token, checked);
    await checkLive(checked.user, dpop, live);
    return admit(checked, presented);
  }

  async function checkProof(request: IncomingMessage, accessToken: string, { boundTo }: Good): Promise<void> {
    const { dpop: proof } = request.headers;
    const { method = '' } = request;
    const verdict =
      typeof proof === 'string'
        ? await parts.checkProof({ proof, accessToken, boundTo, method, urls: urlsOf(request) }).catch(note)
        : ({ ok: false, reason: 'it is bound to a key and came without a proof' } as const);
    if (verdict.ok) return;
    // RFC 9449 §7.1: the proof may be fine, and the token not the one that goes with it.
    const error = verdict.reason === 'it is bound to another key, or to none' ? 'invalid_token' : 'invalid_dpop_proof';
    throw refusal(verdict.reason, { error, dpop: true });
  }

  /** Also for a token that was found good a moment ago: a login that was ended has ended now. */
  async function checkLive({ grant }: User, dpop: boolean, asked?: Promise<boolean>): Promise<void> {
    if (!isLive) return;
    if (grant === undefined || !(await (asked ?? isLive(grant)))) throw refusal('its login has ended', { dpop });
  }

  return function identify(request) {
    const presented = readAuthorization(request);
    if (!presented) throw missing();
    const known = checker.known(presented.token);
    if (!known) {
      refuseMalformed(presented);
      return checkSlowly(request, presented, checker.check(presented.token));
    }
    if (presented.scheme === 'dpop') return checkSlowly(request, presented, known);
    if (isLive) {
      const live = known.user.grant !== undefined && isLive(known.user.grant);
      if (live instanceof Promise) return checkSlowly(request, presented, known, live);
      if (!live) throw refusal('its login has ended');
    }
    return admit(known, presented);
  };
}
