import { createHash } from 'node:crypto';
import { SallyError, type Secret } from '../base/index.ts';
import { verdictFrom } from './claims.ts';
import type { GuardedFetch } from './fetch.ts';
import { LEEWAY } from './jwt.ts';
import { createRecent } from './recent.ts';
import { unavailable } from './unavailable.ts';
import { refused, type Verdict } from './verdict.ts';

export interface IntrospectionOptions {
  readonly issuer: string;
  readonly audience: string;
  readonly find: () => Promise<URL | undefined>;
  readonly clientId?: string;
  readonly clientSecret?: Secret;
  readonly bearer?: () => Promise<string>;
  readonly fetch: GuardedFetch;
  readonly now: () => number;
}

/** RFC 7662 answers are short. */
const MAX_ANSWER = 64 * 1024;
/** A refused token is not asked about again for this long, in milliseconds; who repeats it does not trouble the issuer. */
const REFUSED_FOR = 10_000;
const REFUSALS = 10_000;
/** How long an answer without `exp` counts. */
const WITHOUT_END = 60_000;
/** Anybody can make up tokens: no more than this many questions are under way at a time. */
const MAX_QUESTIONS = 64;
/** How long a discovered endpoint is not looked for again. */
const FOUND_FOR = 10 * 60_000;

type Answer = Readonly<Record<string, unknown>>;

/** Asks the issuer about a token that only it can read (RFC 7662). Good answers are remembered by the caller. */
export function createIntrospection(options: IntrospectionOptions): (token: string) => Promise<Verdict> {
  const { issuer, audience, fetch, now } = options;
  const refusals = createRecent<{ readonly verdict: Verdict; readonly until: number }>(REFUSALS);
  let questions = 0;
  let place: { readonly url: URL | undefined; readonly until: number } | undefined;

  async function endpoint(): Promise<URL | undefined> {
    if (!place || place.until <= now()) place = { url: await options.find(), until: now() + FOUND_FOR };
    return place.url;
  }

  async function ask(url: URL, token: string): Promise<Answer> {
    try {
      const answer = await fetch(url, {
        method: 'POST',
        headers: {
          accept: 'application/json',
          'content-type': 'application/x-www-form-urlencoded',
          ...(await authorization(options)),
        },
        body: new URLSearchParams({
          token,
          token_type_hint: 'access_token',
          ...(options.clientSecret || options.clientId === undefined ? {} : { client_id: options.clientId }),
        }),
      });
      const text = await answer.text();
      if (answer.status !== 200 || text.length > MAX_ANSWER) {
        const hint = answer.status === 401 ? 'check the client id and secret' : 'check the introspection URL';
        throw new SallyError('fetch.unreachable', `${url.href} answered ${answer.status}`, { hint });
      }
      const value: unknown = JSON.parse(text);
      if (typeof value === 'object' && value !== null) return value as Answer;
      throw new SallyError('fetch.unreachable', `${url.href} did not answer with an object`);
    } catch (error) {
      throw unavailable(`the issuer ${issuer} cannot be asked about a token`, error);
    }
  }

  function judge(answer: Answer): Verdict {
    const { active, iss, aud, exp, nbf } = answer;
    if (active !== true) return refused('the issuer says that it is not active');
    if (iss !== undefined && iss !== issuer) return refused('it comes from another issuer');
    // Without an audience we would take tokens that users gave to other servers (RFC 8707).
    if (aud === undefined) return refused('it does not say which audience it is meant for');
    if (aud !== audience && !(Array.isArray(aud) && aud.includes(audience)))
      return refused('it is meant for another audience');
    if (exp !== undefined && typeof exp !== 'number') return refused('it is malformed');
    if (exp !== undefined && exp * 1000 <= now() - LEEWAY) return refused('it is expired');
    if (typeof nbf === 'number' && nbf * 1000 > now() + LEEWAY) return refused('it is not valid yet');
    return verdictFrom(issuer, answer, exp === undefined ? now() + WITHOUT_END : exp * 1000);
  }

  return async function introspect(token) {
    const key = createHash('sha256')
      .update(JSON.stringify([issuer, audience, token]))
      .digest('base64');
    const known = refusals.get(key);
    if (known && known.until > now()) return known.verdict;
    const url = await endpoint();
    if (!url) return refused('it is opaque, and no introspection is configured');
    if (questions >= MAX_QUESTIONS) throw unavailable(`the issuer ${issuer} is being asked about enough tokens`);
    questions += 1;
    const verdict = judge(
      await ask(url, token).finally(() => {
        questions -= 1;
      }),
    );
    if (!verdict.ok) refusals.set(key, { verdict, until: now() + REFUSED_FOR });
    return verdict;
  };
}

async function authorization(options: IntrospectionOptions): Promise<Readonly<Record<string, string>>> {
  const { clientId, clientSecret, bearer } = options;
  if (clientId !== undefined && clientSecret) {
    // RFC 6749 §2.3.1: both are form-encoded before they are joined, so that a colon in them stays theirs.
    const pair = `${formEncoded(clientId)}:${formEncoded(clientSecret.reveal())}`;
    return { authorization: `Basic ${Buffer.from(pair).toString('base64')}` };
  }
  return bearer ? { authorization: `Bearer ${await bearer()}` } : {};
}

function formEncoded(text: string): string {
  return new URLSearchParams({ '': text }).toString().slice(1);
}
