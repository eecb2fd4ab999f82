import { createHash } from 'node:crypto';
import type { Secret } from '../../base/index.ts';
import { answerError, UpstreamError } from './errors.ts';
import { userOf } from './identity.ts';
import { firstTextAt, parseProviderObject } from './json.ts';
import type { UpstreamIdentity, UserInfoSettings } from './types.ts';

type Fetch = (
  url: string,
  request: { readonly method: string; readonly headers: Headers; readonly body?: string },
) => Promise<Response>;

/** Asks a plain OAuth 2 provider whose token it is. */
export async function readUserInfo(
  provider: string,
  settings: UserInfoSettings,
  accessToken: Secret,
  fetch: Fetch,
): Promise<UpstreamIdentity> {
  const headers = new Headers({
    authorization: `Bearer ${accessToken.reveal()}`,
    accept: 'application/json',
    'user-agent': 'sallyport', // some providers refuse requests without one
  });
  for (const [name, value] of Object.entries(settings.headers)) headers.set(name, value);
  const post = settings.method === 'POST';
  const response = await fetch(settings.url, { method: settings.method, headers, ...(post ? { body: '' } : {}) });
  if (response.status !== 200) throw answerError(provider, response.status, undefined);
  const document = parseProviderObject(await response.text());
  if (!document) {
    throw new UpstreamError('upstream.answer_invalid', provider, 'its user information is not a JSON object');
  }
  const subject = firstTextAt(document, settings.subjectFields);
  if (subject === undefined) {
    throw new UpstreamError('upstream.answer_invalid', provider, 'its user information does not name the user', {
      hint: 'check userInfo.fieldMapping.subjectFields',
    });
  }
  return userOf(provider, {
    subject,
    name: firstTextAt(document, settings.nameFields),
    email: document.email_verified === false ? undefined : firstTextAt(document, settings.emailFields),
  });
}

/** Stands in for a user of whom the provider tells nothing: the holder of this very token, and of no other. */
export function syntheticIdentity(accessToken: Secret): UpstreamIdentity {
  const digest = createHash('sha256').update(accessToken.reveal()).digest('hex');
  return { subject: `tk-${digest.slice(0, 32)}`, synthetic: true };
}
