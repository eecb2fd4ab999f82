import type { Configuration, CookiesSetOptions } from 'oidc-provider';
import type { ServerSecrets } from '../secrets.ts';

/**
 * The library's two cookies hold the id of an interaction, each for its own path, so that several tabs do not disturb each other.
 * A path rules out the prefix `__Host-`; on https they have `__Secure-`. The third name is for a session that we never keep.
 */
export function cookiesOf(issuer: URL, secrets: ServerSecrets): NonNullable<Configuration['cookies']> {
  const secure = issuer.protocol === 'https:';
  const prefix = secure ? '__Secure-' : '';
  const options: CookiesSetOptions = { httpOnly: true, sameSite: 'lax', secure, signed: true, overwrite: true };
  return {
    names: {
      interaction: `${prefix}sally_login`,
      resume: `${prefix}sally_resume`,
      session: SESSION_COOKIE,
    },
    short: options,
    long: options,
    keys: secrets.derive('cookies of the library').map((key) => key.toString('base64url')),
  };
}

export const SESSION_COOKIE = 'sally_session';
