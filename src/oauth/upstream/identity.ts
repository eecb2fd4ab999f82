import { UpstreamError } from './errors.ts';
import type { UpstreamIdentity } from './types.ts';

/** What a provider said about a user, not yet checked. */
export interface Told {
  readonly subject: unknown;
  readonly name?: unknown;
  readonly email?: unknown;
}

const MAX_SUBJECT = 512;
const MAX_SHOWN = 320;

/** A user of a provider. A subject that cannot be one ends the login; a name or address that cannot be shown is left out. */
export function userOf(provider: string, { subject, name, email }: Told): UpstreamIdentity {
  if (typeof subject !== 'string' || subject === '' || subject.length > MAX_SUBJECT) {
    throw new UpstreamError('upstream.answer_invalid', provider, 'the claim that names the user is not a fitting text');
  }
  return {
    subject,
    synthetic: false,
    ...(isShowable(name) ? { name } : {}),
    ...(isShowable(email) ? { email } : {}),
  };
}

function isShowable(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MAX_SHOWN && !/\p{Cc}/u.test(value);
}
