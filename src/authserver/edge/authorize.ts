import type { ServerResponse } from 'node:http';
import type { HttpHandler, Log } from '../../base/index.ts';
import type { Ask } from '../library/ask.ts';
import { PATHS } from '../library/provider.ts';
import { OAuthError } from '../oauth-error.ts';
import type { SendErrorPage } from '../page.ts';
import { sendAnswer } from './answer.ts';
import { sendNotice } from './notices.ts';
import { checked, handler } from './serve.ts';
import type { Throttle } from './throttle.ts';
import { leaveToUser, websiteIn } from './website.ts';

export interface AuthorizeParts {
  readonly ask: Ask;
  /** The path of the issuer, without a slash at its end. */
  readonly base: string;
  /** Set when browsers begin at another place than the issuer's. */
  readonly issuerElsewhere?: string;
  /** Ids of the clients that the operator configured. */
  readonly known: ReadonlySet<string>;
  readonly throttle: Throttle;
  readonly sendErrorPage: SendErrorPage;
  readonly log: Log;
}

/** The row of an interaction holds the whole query, and strangers write it. */
const LONGEST_QUERY = 8 * 1024;
const UID = /^[\w-]{10,64}$/;

/** Where a browser begins a login, and below it, where it comes back to when the interaction is done. */
export function createAuthorize({
  ask,
  base,
  issuerElsewhere,
  known,
  throttle,
  sendErrorPage,
  log,
}: AuthorizeParts): HttpHandler {
  const start = `${base}${PATHS.authorization}`;

  function refuse(response: ServerResponse, error: OAuthError): void {
    const incident = sendNotice(response, error, sendErrorPage);
    log.debug('authorization refused without a redirect', { incident, error: error.code, description: error.message });
  }

  return handler(
    ['GET'],
    log,
    async (request, response) => {
      throttle('authorize', request);
      const [path = '', query = ''] = splitAt(request.url ?? '', '?');
      const uid = path === start ? undefined : path.slice(start.length + 1);
      if (uid !== undefined && !UID.test(uid)) throw new OAuthError(404, 'not_found', 'nothing is served at this path');
      if (query.length > LONGEST_QUERY) throw new OAuthError(414, 'invalid_request', 'the query is too long');
      if (uid === undefined && issuerElsewhere !== undefined && !isMarked(query)) {
        const location = `${issuerElsewhere}${PATHS.authorization}?${query}&${MARK}`;
        return void response
          .writeHead(303, { location, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
          .end();
      }
      const { cookie } = request.headers;
      const answer = await ask({
        method: 'GET',
        path: uid === undefined ? PATHS.authorization : `${PATHS.authorization}/${uid}`,
        search: uid === undefined ? `?${withQueryMode(query)}` : '',
        headers: cookie === undefined ? {} : { cookie },
      });
      checked(answer, log);
      if (answer.status >= 400) throw errorOf(answer.status, answer.body, uid !== undefined);
      const isStranger = uid === undefined && !known.has(answer.clientId ?? '');
      const website = isStranger ? websiteIn(answer.headers.location) : undefined;
      if (website) {
        const incident = leaveToUser(response, website, sendErrorPage);
        return log.debug('authorization refused, and its user not redirected', { incident, host: website.host });
      }
      sendAnswer(response, { ...answer, body: '' });
    },
    refuse,
  );
}

/**
 * `authorizationEndpointBase` may be another host. The cookies of a login have to be where its pages and callbacks are, so a
 * browser that begins there is sent to the issuer first. Not by its Host header: a proxy may have changed that.
 */
const MARK = 'at=issuer';

function isMarked(query: string): boolean {
  return query.split('&').includes(MARK);
}

/** The library also answers by fragment and by a page with a script, and errors too. A mode it does not know it refuses. */
function withQueryMode(query: string): string {
  const params = new URLSearchParams(query);
  const mode = params.get('response_mode');
  if (mode !== null && mode !== '' && mode !== 'query') params.set('response_mode', 'unsupported');
  return params.toString();
}

function errorOf(status: number, body: string, isResume: boolean): OAuthError {
  const { error, error_description: description } = JSON.parse(body) as Readonly<Record<string, string>>;
  const code = isResume && error === 'invalid_request' ? 'login_over' : (error ?? 'invalid_request');
  return new OAuthError(status, code, description ?? '');
}

function splitAt(text: string, mark: string): readonly [string, string] {
  const at = text.indexOf(mark);
  return at === -1 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
}
