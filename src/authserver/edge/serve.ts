import type { IncomingMessage, ServerResponse } from 'node:http';
import { codeOf, type HttpHandler, type Log } from '../../base/index.ts';
import type { Answer, Question } from '../library/ask.ts';
import { OAuthError } from '../oauth-error.ts';
import { reportFailure, sendError } from './answer.ts';

export type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;
export type Refuse = (response: ServerResponse, error: OAuthError) => void;

/** Makes a handler of an async function: only these methods, and every error becomes an answer. */
export function handler(methods: readonly string[], log: Log, serve: Serve, refuse: Refuse = sendError): HttpHandler {
  return (request, response) => {
    if (!methods.includes(request.method ?? '')) {
      response.setHeader('allow', methods.join(', '));
      return refuse(response, new OAuthError(405, 'invalid_request', `the method must be ${methods.join(' or ')}`));
    }
    serve(request, response).catch((error: unknown) => {
      if (request.destroyed && !request.complete) return; // the client left in the middle of its request
      if (response.headersSent) return void response.destroy();
      refuse(response, toOAuthError(error, log));
    });
  };
}

/** The headers that an endpoint for clients may have a look at. */
export function clientHeaders({ headers }: IncomingMessage): Readonly<Record<string, string>> {
  const taken = { authorization: headers.authorization, dpop: headers.dpop };
  return Object.fromEntries(
    Object.entries(taken).filter((pair): pair is [string, string] => typeof pair[1] === 'string'),
  );
}

export function formQuestion(path: string, form: URLSearchParams, headers: Readonly<Record<string, string>>): Question {
  return {
    method: 'POST',
    path,
    body: form.toString(),
    headers: { ...headers, 'content-type': 'application/x-www-form-urlencoded' },
  };
}

/** An answer of the library that is its failure becomes ours, with an incident. */
export function checked(answer: Answer, log: Log): Answer {
  if (answer.status < 500) return answer;
  if (codeOf(answer.failure)?.startsWith('storage.')) throw answer.failure;
  throw reportFailure(log, answer.failure ?? new Error(`the library answered ${answer.status}`));
}

function toOAuthError(error: unknown, log: Log): OAuthError {
  if (error instanceof OAuthError) return error;
  if (codeOf(error) === 'storage.full') {
    return new OAuthError(503, 'temporarily_unavailable', 'there is no room for more at the moment', {
      retryAfter: 60,
    });
  }
  if (codeOf(error) === 'storage.unavailable') {
    // The store says so itself in the log, once.
    return new OAuthError(503, 'temporarily_unavailable', 'logins cannot be looked up right now', { retryAfter: 2 });
  }
  return reportFailure(log, error);
}
