import { codeOf } from '../../base/index.ts';
import { UpstreamError } from '../../oauth/upstream/index.ts';
import type { ErrorModel } from '../pages/index.ts';
import type { FlowFailure } from './flow.ts';

/** A login that ended before its end: what the client is told, what the user reads, and what the log calls it. */
export interface Failure {
  readonly reason: string;
  readonly status: number;
  readonly client: FlowFailure;
  readonly page: Pick<ErrorModel, 'title' | 'message' | 'advice'>;
  /** Whether somebody who runs this server should look at it. */
  readonly isOurs: boolean;
}

/** What a provider answers when it is the user, or somebody in charge of him, who does not want to. */
const REFUSALS = [
  'access_denied',
  'login_required',
  'consent_required',
  'interaction_required',
  'account_selection_required',
];

/** What it means for a login that something was thrown while a provider was asked. Words of the provider appear nowhere. */
export function failureOf(provider: string, thrown: unknown): Failure {
  if (thrown instanceof OtherUserError) return OTHER_USER;
  if (codeOf(thrown) === 'storage.full') return FULL;
  if (codeOf(thrown) === 'storage.unavailable') return STORE_AWAY;
  if (!(thrown instanceof UpstreamError)) return NOT_COMPLETED;
  if (REFUSALS.includes(thrown.oauthCode ?? '')) return refused(provider);
  return thrown.transient ? unavailable(provider) : broken(provider, thrown.oauthCode ?? thrown.code);
}

export const DENIED: Failure = {
  reason: 'denied at consent',
  status: 200,
  client: { error: 'access_denied', description: 'The user did not allow it.' },
  page: { title: 'Not let in', message: 'You did not let the client in.', advice: 'You can close this window.' },
  isOurs: false,
};

export const TOO_OFTEN: Failure = {
  reason: 'sent to providers too often',
  status: 429,
  client: { error: 'access_denied', description: 'The login was begun again too often.' },
  page: {
    title: 'Too many attempts',
    message: 'This login was sent to its providers too often without coming to an end.',
    advice: 'Nothing was stored. Go back to the application and start again.',
  },
  isOurs: false,
};

/** The fault is on our side, or what the login was for is gone. */
export const NOT_COMPLETED: Failure = {
  reason: 'not completed',
  status: 500,
  client: { error: 'server_error', description: 'The login could not be completed.' },
  page: {
    title: 'The login could not be completed',
    message: 'This gateway was not able to finish what you began.',
    advice:
      'Nothing was stored. Start again from the application; if it happens again, tell whoever runs this gateway.',
  },
  isOurs: true,
};

/** Somebody else than the user of the grant wants to connect a provider to it. */
export class OtherUserError extends Error {
  override readonly name = 'OtherUserError';
}

const OTHER_USER: Failure = {
  reason: 'another user than that of the grant',
  status: 403,
  client: { error: 'access_denied', description: 'The login belongs to another user.' },
  page: {
    title: 'This is for another user',
    message: 'You logged in as somebody else than the user who asked for this.',
    advice: 'Nothing was stored. If somebody sent you a link to log in, do not use it.',
  },
  isOurs: false,
};

const FULL: Failure = {
  reason: 'storage is full',
  status: 503,
  client: { error: 'temporarily_unavailable', description: 'Too many logins are under way.' },
  page: {
    title: 'Too many logins',
    message: 'More logins are under way than this gateway keeps.',
    advice: 'Nothing was stored. Try again in a few minutes.',
  },
  isOurs: true,
};

const STORE_AWAY: Failure = {
  reason: 'storage is not available',
  status: 503,
  client: { error: 'temporarily_unavailable', description: 'Logins cannot be stored right now.' },
  page: {
    title: 'Not right now',
    message: 'This gateway cannot reach the place where it keeps logins.',
    advice: 'Nothing was stored. Try again in a moment.',
  },
  isOurs: true,
};

function refused(provider: string): Failure {
  return {
    reason: 'refused at the provider',
    status: 403,
    client: { error: 'access_denied', description: 'The login was refused at an identity provider.' },
    page: {
      title: 'Login refused',
      message: `The login at ${provider} was cancelled or refused.`,
      advice: 'Nothing was stored. The application is told; start again from there if this was not what you wanted.',
    },
    isOurs: false,
  };
}

function unavailable(provider: string): Failure {
  return {
    reason: 'provider is not available',
    status: 503,
    client: { error: 'temporarily_unavailable', description: 'An identity provider is not available.' },
    page: {
      title: 'A provider is not available',
      message: `${provider} cannot be reached at the moment.`,
      advice: 'Nothing was stored. Try again in a few minutes.',
    },
    isOurs: true,
  };
}

function broken(provider: string, reason: string): Failure {
  return {
    reason,
    status: 502,
    client: { error: 'server_error', description: 'The login at an identity provider did not work.' },
    page: {
      title: 'The login did not work',
      message: `What ${provider} answered could not be accepted.`,
      advice:
        'Nothing was stored. Start again from the application; if it happens again, tell whoever runs this gateway.',
    },
    isOurs: true,
  };
}
