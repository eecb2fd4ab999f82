import { Secret } from '../../base/index.ts';
import { answerError, oauthCodeOf, UpstreamError } from './errors.ts';
import { type ProviderObject, parseProviderObject, textAt, valueAt } from './json.ts';
import type { TokenPaths, TokenSource, UpstreamTokens } from './types.ts';

/** What every provider has at the top, by RFC 6749 §5.1. */
const STANDARD: TokenPaths = {
  accessToken: 'access_token',
  refreshToken: 'refresh_token',
  expiresIn: 'expires_in',
  scope: 'scope',
};

/** Seconds. */
const RENEW_AHEAD = 60;

/** The members of a token answer, or the failure that it reports. */
export async function readTokenAnswer(provider: string, response: Response): Promise<ProviderObject> {
  const text = await response.text();
  const answer = parseProviderObject(text) ?? parseForm(response.headers.get('content-type'), text);
  const oauthCode = oauthCodeOf(answer?.error);
  // Some providers report errors with the status of a success.
  if (response.status !== 200 || oauthCode !== undefined) throw answerError(provider, response.status, oauthCode);
  if (answer) return answer;
  throw new UpstreamError('upstream.answer_invalid', provider, 'its token answer is neither JSON nor a form');
}

export interface TokenContext {
  readonly provider: string;
  readonly source: TokenSource;
  readonly paths?: TokenPaths | undefined;
  /** What was asked for, which is what was granted when the answer does not say (RFC 6749 §5.1). */
  readonly scopes: readonly string[];
  /** When the question went out, in milliseconds since 1970. */
  readonly askedAt: number;
  /** A provider that nests may still answer a refresh flat. Then every token in the answer belongs to the one that was refreshed. */
  readonly flatToo?: boolean;
}

/** The tokens of an answer, without an ID token: that one has to be checked first. */
export function tokensOf(answer: ProviderObject, context: TokenContext): UpstreamTokens {
  const { provider, source, paths, scopes, askedAt } = context;
  const nested = paths && (!context.flatToo || textAt(answer, paths.accessToken) !== undefined);
  const at = nested ? paths : STANDARD;
  const accessToken = textAt(answer, at.accessToken);
  if (accessToken === undefined) {
    throw new UpstreamError('upstream.answer_invalid', provider, 'its token answer has no access token', {
      ...(paths ? { hint: 'check tokenResponseMapping.accessTokenPath' } : {}),
    });
  }
  // A mapped answer has the type of another token at its top, or none; what was mapped is used as a bearer token.
  if (!paths && textAt(answer, 'token_type')?.toLowerCase() !== 'bearer') {
    throw new UpstreamError('upstream.answer_invalid', provider, 'its access token is not a bearer token');
  }
  const refreshToken = textAt(answer, at.refreshToken);
  const expiresIn = Number(valueAt(answer, at.expiresIn));
  return {
    accessToken: new Secret(accessToken),
    ...(refreshToken === undefined ? {} : { refreshToken: new Secret(refreshToken) }),
    ...(Number.isFinite(expiresIn) && expiresIn > 0 ? timesOf(expiresIn, askedAt) : {}),
    scopes: scopesOf(valueAt(answer, at.scope)) ?? scopes,
    source,
  };
}

/**
 * A token that lives for an hour is renewed a minute before its end; one that lives for a minute is not renewed all the time.
 * RFC 6749 §5.1 counts from when the answer was made, which nobody tells us: it was not before it was asked for.
 */
function timesOf(expiresIn: number, askedAt: number): Pick<UpstreamTokens, 'expiresAt' | 'renewAt'> {
  const end = askedAt / 1000 + expiresIn;
  const expiresAt = Math.floor(end);
  return { expiresAt, renewAt: Math.min(expiresAt, end - Math.min(RENEW_AHEAD, expiresIn / 10)) };
}

/** Scopes are separated by spaces; some providers use commas, or an array. */
function scopesOf(value: unknown): readonly string[] | undefined {
  if (Array.isArray(value)) return value.filter((scope): scope is string => typeof scope === 'string');
  if (typeof value !== 'string') return undefined;
  return value.split(/[\s,]+/).filter((scope) => scope !== '');
}

/** Old providers answer with a form. A member that comes twice is nobody's. */
function parseForm(type: string | null, text: string): ProviderObject | undefined {
  const media = (type ?? '').split(';')[0]?.trim().toLowerCase();
  if (media !== 'application/x-www-form-urlencoded' && media !== 'text/plain') return undefined;
  const form = new URLSearchParams(text);
  if (!form.has('access_token') && !form.has('error')) return undefined;
  const names = [...new Set(form.keys())].filter((name) => form.getAll(name).length === 1);
  return Object.fromEntries(names.map((name) => [name, form.get(name)]));
}
