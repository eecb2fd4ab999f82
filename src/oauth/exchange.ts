import {
  allowInsecureRequests,
  ClientSecretBasic,
  ClientSecretPost,
  customFetch,
  genericTokenEndpointRequest,
  None,
  processGenericTokenEndpointResponse,
  ResponseBodyError,
} from 'oauth4webapi';
import { SallyError, Secret } from '../base/index.ts';
import type { FetchRequest, GuardedFetch } from './fetch.ts';

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TYPES = 'urn:ietf:params:oauth:token-type:';
/** RFC 8693 §2.2.1: what is issued need not be an OAuth access token, and then says so. */
const NOT_A_BEARER = { n_a: () => {} };

export type SubjectTokenType = 'access_token' | 'id_token' | 'jwt';

export interface ExchangeSettings {
  readonly tokenUrl: string;
  readonly clientId?: string;
  readonly clientSecret?: Secret;
  readonly clientAuth: 'client_secret_basic' | 'client_secret_post';
  readonly audience?: string;
  readonly scopes: readonly string[];
  readonly subjectTokenType: SubjectTokenType;
}

export interface Exchanged {
  readonly token: Secret;
  /** Milliseconds since 1970. Absent when the server does not say. */
  readonly expiresAt?: number;
}

/** A token for one server in exchange for a token of the user (RFC 8693). */
export type Exchange = (subject: Secret, signal: AbortSignal) => Promise<Exchanged>;

export function createExchange(settings: ExchangeSettings, fetch: GuardedFetch, now: () => number): Exchange {
  const server = { issuer: settings.tokenUrl, token_endpoint: settings.tokenUrl };
  // Without a client id the endpoint knows us by the network, or by the subject token alone.
  const client = { client_id: settings.clientId ?? '' };
  const { origin } = new URL(settings.tokenUrl);

  async function guarded(url: string, request: FetchRequest): Promise<Response> {
    const { body } = request;
    if (settings.clientId === undefined && body instanceof URLSearchParams) body.delete('client_id');
    const answer = await fetch(url, request);
    if (answer.status >= 500 || answer.status === 429 || answer.status === 408) throw notNow(origin, answer.status);
    return answer;
  }

  return async function exchange(subject, signal) {
    const form = new URLSearchParams({
      subject_token: subject.reveal(),
      subject_token_type: `${TYPES}${settings.subjectTokenType}`,
      requested_token_type: `${TYPES}access_token`,
    });
    if (settings.audience !== undefined) form.set('audience', settings.audience);
    if (settings.scopes.length > 0) form.set('scope', settings.scopes.join(' '));
    try {
      const options = { [customFetch]: guarded as never, [allowInsecureRequests]: true, signal };
      const response = await genericTokenEndpointRequest(server, client, authOf(settings), GRANT, form, options);
      const answer = await processGenericTokenEndpointResponse(server, client, response, {
        recognizedTokenTypes: NOT_A_BEARER,
      });
      const lives = answer.expires_in;
      return {
        token: new Secret(answer.access_token),
        ...(typeof lives === 'number' && lives > 0 ? { expiresAt: now() + lives * 1000 } : {}),
      };
    } catch (error) {
      throw explain(origin, error);
    }
  };
}

function authOf({ clientId, clientSecret, clientAuth }: ExchangeSettings) {
  if (clientId === undefined || !clientSecret) return None();
  const secret = clientSecret.reveal();
  return clientAuth === 'client_secret_post' ? ClientSecretPost(secret) : ClientSecretBasic(secret);
}

/** Errors of the library hold the answer, with tokens in it: only the OAuth code goes on. */
function explain(origin: string, error: unknown): SallyError {
  if (error instanceof ResponseBodyError) {
    return new SallyError('outgoing.exchange_refused', `${origin} does not exchange the token: ${codeIn(error)}`, {
      hint: 'check the client, audience and scopes of the token exchange',
      data: { oauth: codeIn(error) },
    });
  }
  if (error instanceof SallyError) {
    if (!error.code.startsWith('fetch.')) return error;
    return new SallyError('outgoing.unavailable', `${origin} cannot be reached to exchange a token`, { cause: error });
  }
  return new SallyError('outgoing.exchange_refused', `${origin} gave an answer that is no token`);
}

function codeIn({ error }: ResponseBodyError): string {
  return /^[a-z0-9_.-]{1,64}$/i.test(error) ? error : 'unknown';
}

function notNow(origin: string, status: number): SallyError {
  return new SallyError('outgoing.unavailable', `${origin} cannot exchange a token right now (HTTP ${status})`);
}
