import type { ErrorModel } from '../pages/index.ts';

/** A page for somebody who cannot go on from where he is. Nothing is told to the client, because nobody knows whose it is. */
export interface DeadEnd {
  readonly status: number;
  readonly page: Pick<ErrorModel, 'title' | 'message' | 'advice'>;
}

const START_AGAIN = 'Go back to the application and start the login again there.';

export const STALE: DeadEnd = {
  status: 404,
  page: {
    title: 'This login is over',
    message: 'The link was used before, took too long, or belongs to a login in another browser.',
    advice: START_AGAIN,
  },
};

/** Rows 14 and W-2: whoever began this login is not the one who came back. */
export const OTHER_BROWSER: DeadEnd = {
  status: 403,
  page: {
    title: 'This login began in another browser',
    message: 'Somebody started a login elsewhere and it came back here. It was ended, and nothing was passed on.',
    advice:
      'If somebody sent you a link to log in, do not use it. If it was you, start again and stay in one browser window.',
  },
};

export const BUSY: DeadEnd = {
  status: 409,
  page: {
    title: 'Already under way',
    message: 'Another window of this browser is finishing the same step.',
    advice: 'Go on in that window. You can close this one.',
  },
};

export const FORM_OUT_OF_DATE: DeadEnd = {
  status: 403,
  page: {
    title: 'This form is out of date',
    message: 'Your answer did not come from the page that is valid now, so it was not used.',
    advice: 'Open the page again and answer there.',
  },
};

export const WRONG_METHOD: DeadEnd = {
  status: 405,
  page: {
    title: 'This is not how the page is used',
    message: 'The address was called in a way that it does not know.',
    advice: START_AGAIN,
  },
};

export const BROKEN: DeadEnd = {
  status: 500,
  page: {
    title: 'Something went wrong',
    message: 'This gateway met a state that its authors did not foresee.',
    advice: START_AGAIN,
  },
};

export const STORE_AWAY: DeadEnd = {
  status: 503,
  page: {
    title: 'Not right now',
    message: 'This gateway cannot reach the place where it keeps logins.',
    advice: 'Wait a few seconds and load the page again. If that does not help, start again from the application.',
  },
};
