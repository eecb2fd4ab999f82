import { codeOf, type ErrorCode, type ErrorDetails, SallyError } from '../../base/index.ts';

/**
 * How a provider failed. `refused`: it said no and will say so again. `unavailable`: it could not be asked, later may be
 * better. `answer_invalid`: it answered what we must not accept.
 */
export type UpstreamErrorCode = Extract<ErrorCode, `upstream.${string}`>;

/** A failure of one provider. Texts of the provider are in none of its parts: they could carry tokens. */
export class UpstreamError extends SallyError {
  readonly provider: string;
  /** The OAuth error code that the provider gave, such as `invalid_grant`. */
  readonly oauthCode: string | undefined;

  constructor(
    code: UpstreamErrorCode,
    provider: string,
    message: string,
    details: ErrorDetails & { readonly oauthCode?: string | undefined } = {},
  ) {
    super(code, `provider ${provider}: ${message}`, details);
    this.name = 'UpstreamError';
    this.provider = provider;
    this.oauthCode = details.oauthCode;
  }

  /** Whether the same request may succeed later. */
  get transient(): boolean {
    return this.code === 'upstream.unavailable';
  }
}

const REPAIRS: Readonly<Record<UpstreamErrorCode, string>> = {
  'upstream.unavailable': 'check that it runs and can be reached from here',
  'upstream.refused': 'check its clientId, its secret and its scopes',
  'upstream.answer_invalid': 'check that its addresses are those of the provider',
  'upstream.moved': 'users log in again',
};

/** What is wrong with a provider and what to do, for whoever configured it. */
export function problemOf(error: UpstreamError): string {
  const { cause, code, hint = REPAIRS[code as UpstreamErrorCode] } = error;
  const because = cause instanceof SallyError ? [cause.message] : [];
  return [error.message, ...because, hint].join('; ');
}

/** OAuth error codes, and those of providers with words of their own, that say no more than "not now". */
const NOT_NOW = [
  'server_error',
  'temporarily_unavailable',
  'slow_down',
  'ratelimited',
  'rate_limited',
  'internal_error',
  'service_unavailable',
  'request_timeout',
];

/** The error of an answer whose status is not a success, or that has an `error` member. */
export function answerError(provider: string, status: number, oauthCode: string | undefined): UpstreamError {
  const said = oauthCode === undefined ? `HTTP ${status}` : `${oauthCode} (HTTP ${status})`;
  if (status >= 500 || status === 429 || status === 408 || (oauthCode && NOT_NOW.includes(oauthCode))) {
    return new UpstreamError('upstream.unavailable', provider, `is not able to answer now: ${said}`, { oauthCode });
  }
  if (oauthCode !== undefined || status === 401 || status === 403) {
    return new UpstreamError('upstream.refused', provider, `refused the request: ${said}`, { oauthCode });
  }
  return new UpstreamError('upstream.answer_invalid', provider, `gave an answer that is not one of OAuth: ${said}`);
}

/** Error codes are short words (RFC 6749 §5.2); anything else that stands in their place is not repeated. */
export function oauthCodeOf(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  return /^[a-z0-9_.-]{1,64}$/i.test(value) ? value : 'unknown';
}

/** Whatever was thrown while a provider was asked, as an UpstreamError. */
export function asUpstreamError(provider: string, thrown: unknown): UpstreamError {
  if (thrown instanceof UpstreamError) return thrown;
  if (thrown instanceof SallyError && thrown.code.startsWith('fetch.')) {
    const details = thrown.hint === undefined ? { cause: thrown } : { cause: thrown, hint: thrown.hint };
    return new UpstreamError('upstream.unavailable', provider, 'cannot be reached', details);
  }
  // An error of the library has the answer of the provider as its cause, with the tokens in it: only its words go on.
  if (codeOf(thrown)?.startsWith('OAUTH_')) {
    return new UpstreamError('upstream.answer_invalid', provider, (thrown as Error).message);
  }
  // The words of a JSON parser quote the text.
  const details = thrown instanceof SyntaxError ? {} : { cause: thrown };
  return new UpstreamError('upstream.answer_invalid', provider, 'its answer could not be used', details);
}
