import { hash } from 'node:crypto';
import { codeOf, SallyError, type Secret } from '../../base/index.ts';
import { createRecent, type Exchange, type Exchanged } from '../../oauth/index.ts';
import type { Credential, CredentialHeaders, Identity, UpstreamTokens } from '../call.ts';
import { userOf } from './credentials.ts';

/** A token that ends this soon is not used any more, in milliseconds. */
const BEFORE_END = 30_000;
/** How long a token counts whose server does not say how long it does. */
const WITHOUT_END = 60_000;
const REMEMBERED = 10_000;
const TIMEOUT = 15_000;

export interface TokenExchangeParts {
  readonly exchange: Exchange;
  /** Whose token is exchanged: that of a provider of the login, or the caller's own when not given. */
  readonly upstream: { readonly provider: string; readonly tokens: () => UpstreamTokens } | undefined;
  /** Where the new token goes, `authorization` by default. */
  readonly header: string;
  readonly now: () => number;
}

/**
 * A token made for this backend, in exchange for one of the user. Kept until shortly before its end under the token it came
 * from, so that two users never share one; asked for once, however many calls wait for it.
 */
export function tokenExchange({ exchange, upstream, header, now }: TokenExchangeParts): Credential {
  const kept = createRecent<Exchanged>(REMEMBERED);
  const underway = new Map<string, Promise<CredentialHeaders>>();

  function subjectOf(identity: Identity): Secret | Promise<Secret> {
    const user = userOf(identity, upstream?.provider);
    return upstream ? upstream.tokens().accessToken(user, upstream.provider, undefined) : user.token;
  }

  /** A token of a provider may have ended before its time: it is renewed once, and exchanged again. */
  async function exchanged(identity: Identity): Promise<CredentialHeaders> {
    const subject = await subjectOf(identity);
    try {
      return await headersFor(subject);
    } catch (error) {
      if (!isAboutSubject(error) || !upstream) throw error;
      const { provider, tokens } = upstream;
      const other = await tokens().accessToken(userOf(identity, provider), provider, subject);
      if (other.reveal() === subject.reveal()) throw error;
      return await headersFor(other);
    }
  }

  function inTime(key: string): Exchanged | undefined {
    const known = kept.get(key);
    return known && (known.expiresAt ?? 0) - BEFORE_END > now() ? known : undefined;
  }

  function headersFor(subject: Secret): CredentialHeaders | Promise<CredentialHeaders> {
    const key = keyOf(subject);
    const known = inTime(key);
    if (known) return carried(known.token);
    const waiting = underway.get(key);
    if (waiting) return waiting;
    const asked = ask(subject, key).finally(() => underway.delete(key));
    underway.set(key, asked);
    return asked;
  }

  async function ask(subject: Secret, key: string): Promise<CredentialHeaders> {
    // Not the caller's patience: others wait for the same token, and the next call wants it too.
    const exchanged = await exchange(subject, AbortSignal.timeout(TIMEOUT));
    const expiresAt = exchanged.expiresAt ?? now() + BEFORE_END + WITHOUT_END;
    kept.set(key, { token: exchanged.token, expiresAt });
    return carried(exchanged.token);
  }

  function carried(token: Secret): CredentialHeaders {
    return { [header]: `Bearer ${token.reveal()}` };
  }

  return {
    headers(identity) {
      const subject = subjectOf(identity);
      const known = subject instanceof Promise ? undefined : inTime(keyOf(subject));
      return known ? carried(known.token) : exchanged(identity);
    },
    async renew(identity, refused) {
      const subject = await subjectOf(identity);
      const key = keyOf(subject);
      const known = kept.get(key);
      // Somebody else may have renewed it meanwhile; what was refused is not offered again.
      if (known && carried(known.token)[header] === refused[header]) kept.set(key, { ...known, expiresAt: 0 });
      const headers = await exchanged(identity);
      return headers[header] === refused[header] ? undefined : headers;
    },
  };
}

function keyOf(subject: Secret): string {
  return hash('sha256', subject.reveal(), 'base64');
}

/** RFC 8693 §2.2.2 says `invalid_request` for a subject token that is not good; many say `invalid_grant`. */
function isAboutSubject(error: unknown): boolean {
  if (codeOf(error) !== 'outgoing.exchange_refused') return false;
  const code = error instanceof SallyError ? error.data?.oauth : undefined;
  return code === 'invalid_request' || code === 'invalid_grant' || code === 'invalid_token';
}
