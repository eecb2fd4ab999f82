import { randomBytes } from 'node:crypto';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type {
  OAuthClientProvider,
  OAuthDiscoveryState,
  StoredOAuthClientInformation,
  StoredOAuthTokens,
} from '@modelcontextprotocol/client';

export interface Login extends AsyncDisposable {
  /** For the transport of the SDK, which discovers, registers and redeems with it. Everything is forgotten when the program ends. */
  readonly provider: OAuthClientProvider;
  /** The parameters that the browser comes back with, the next time. Rejects when the login was refused. */
  readonly answer: Promise<URLSearchParams>;
}

/** Gets ready for a login in a browser: a free port of this machine waits for the answer, `show` is told where the user has to go. */
export async function prepareLogin(show: (url: URL) => void): Promise<Login> {
  const state = randomBytes(16).toString('base64url');
  let waiting = newWait();

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname !== '/callback') return tell(response, 404, 'There is nothing here.');
    // Not the login that we began: somebody else's answer must not become ours.
    if (url.searchParams.get('state') !== state) return tell(response, 400, 'This is not the login that was started.');
    const error = url.searchParams.get('error');
    if (error === null) {
      tell(response, 200, 'You are logged in. You can close this tab and go back to the terminal.');
      return waiting.resolve(url.searchParams);
    }
    tell(response, 200, 'You were not let in. You can close this tab.');
    waiting.reject(
      new Error(`the login was refused (${error}): ${url.searchParams.get('error_description') ?? 'no reason given'}`),
    );
  });
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  const redirectUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;

  let client: StoredOAuthClientInformation | undefined;
  let tokens: StoredOAuthTokens | undefined;
  let discovered: OAuthDiscoveryState | undefined;
  let verifier = '';
  const provider: OAuthClientProvider = {
    redirectUrl,
    clientMetadata: {
      client_name: 'Example client',
      redirect_uris: [redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    state: () => state,
    clientInformation: () => client,
    saveClientInformation(registered) {
      client = registered;
    },
    tokens: () => tokens,
    saveTokens(issued) {
      tokens = issued;
    },
    invalidateCredentials(scope) {
      if (scope === 'all' || scope === 'tokens') tokens = undefined;
      if (scope === 'all' || scope === 'client') client = undefined;
      if (scope === 'all' || scope === 'discovery') discovered = undefined;
    },
    redirectToAuthorization(url) {
      if (waiting.isOver()) waiting = newWait();
      show(url);
    },
    saveCodeVerifier(made) {
      verifier = made;
    },
    codeVerifier: () => verifier,
    // So that the code is redeemed where the login began, whatever is discovered later.
    discoveryState: () => discovered,
    saveDiscoveryState(state) {
      discovered = state;
    },
  };

  return {
    provider,
    get answer() {
      return waiting.answer;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

function newWait() {
  const { promise: answer, resolve, reject } = Promise.withResolvers<URLSearchParams>();
  let isOver = false;
  const over = (): void => {
    isOver = true;
  };
  answer.then(over, over); // whoever asks for it is told of an error; it may come before anybody does
  return { answer, resolve, reject, isOver: () => isOver };
}

function tell(response: ServerResponse, status: number, sentence: string): void {
  response
    .writeHead(status, { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': "default-src 'none'" })
    .end(
      `<!doctype html><html lang="en"><meta name="color-scheme" content="light dark"><title>${sentence}</title><p>${sentence}</p></html>`,
    );
}
