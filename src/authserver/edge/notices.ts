import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { OAuthError } from '../oauth-error.ts';
import type { ErrorNotice, SendErrorPage } from '../page.ts';

type Words = Pick<ErrorNotice, 'title' | 'message' | 'advice'>;

const RESTART = 'Go back to the app and start the login again.';

/** By code, for the errors that a person can end up with. Nothing of what the request said is repeated. */
const WORDS: ReadonlyMap<string, Words> = new Map(
  Object.entries({
    invalid_client: {
      title: 'This app is not known here',
      message: 'The app that sent you never registered, or its registration has run out.',
      advice: 'Go back to the app, remove this server from it and add it again.',
    },
    invalid_redirect_uri: {
      title: 'The app gave a wrong return address',
      message: 'The address to send you back to does not belong to the app, so nothing was sent there.',
      advice: 'If you followed a link from somebody, do not trust it. Otherwise start the login again in the app.',
    },
    login_over: {
      title: 'This login is over',
      message: 'It was finished before, took too long, or was begun in another browser.',
      advice: RESTART,
    },
    temporarily_unavailable: {
      title: 'Too much is going on',
      message: 'More logins are under way than this server takes on at once.',
      advice: 'Wait a minute, then start the login again in the app.',
    },
    server_error: {
      title: 'Something went wrong on our side',
      message: 'The login could not go on. Nothing was sent to the app.',
      advice: 'Try again in a moment.',
    },
    not_found: {
      title: 'There is nothing here',
      message: 'The address is not one of this server.',
      advice: RESTART,
    },
  }),
);

const OTHERWISE: Words = {
  title: 'The app asked for a login in a wrong way',
  message: 'The request cannot be answered, and it does not say where to report that.',
  advice: `${RESTART} If it happens again, tell the maker of the app.`,
};

/** Shows a person what went wrong; gives the id of the incident, for the log. */
export function sendNotice(response: ServerResponse, error: OAuthError, sendErrorPage: SendErrorPage): string {
  const incident = error.incident ?? randomUUID();
  if (error.retryAfter !== undefined) response.setHeader('retry-after', String(error.retryAfter));
  sendErrorPage(response, { status: error.status, ...(WORDS.get(error.code) ?? OTHERWISE), incident });
  return incident;
}
