import { createServer, request as send } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLogin } from '../support/caller.ts';
import { createTestBrowser } from '../support/cookie-jar.ts';
import { startIdentityProvider } from '../support/identity-provider.ts';
import { startLoginGateway } from '../support/login-gateway.ts';
import { startOAuth2Provider } from '../support/oauth2-provider.ts';
import { freePort } from '../support/processes.ts';
import type { AuthorizationServer } from './suite.ts';

/** The gateway with its authorization server, and two providers that know alice. */
export interface LoginStand extends AsyncDisposable {
  /** The MCP endpoint. */
  readonly url: string;
  /** A token of alice. */
  token(): Promise<string>;
  /** The authorization server as the suite wants to know it, with a client that it can play. */
  register(): Promise<AuthorizationServer>;
}

export async function startLoginStand(
  backends: Readonly<Record<string, string>>,
  spec: Readonly<Record<string, unknown>> = {},
): Promise<LoginStand> {
  await using stack = new AsyncDisposableStack();
  const corp = stack.use(await startIdentityProvider({ user: 'alice' }));
  const hub = stack.use(await startOAuth2Provider({ automatic: true, tokenResponse: 'nested' }));
  const authServer = { consent: 'always', tokenLifespans: { accessTokenLifespan: '24h' } };
  const { url, issuer } = stack.use(await startLoginGateway({ providers: { corp, hub }, backends, spec, authServer }));
  const open = stack.move();

  return {
    url,
    async token() {
      const login = createLogin({ url, issuer, replicas: [url] });
      return (await login('alice')).accessToken;
    },
    async register() {
      const port = await freePort();
      const metadata = { client_name: 'The suite', redirect_uris: [`http://127.0.0.1:${port}/callback`] };
      const answer = await fetch(`${issuer}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(metadata),
      });
      const { client_id: clientId } = (await answer.json()) as { client_id: string };
      return { issuer, resource: url, clientId, port, logIn: (address) => logIn(address, port) };
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** Consent, both providers, and back to the client, which has to be satisfied too. */
async function logIn(address: string, port: number): Promise<void> {
  const browser = createTestBrowser();
  const consent = await browser.travel(address);
  const back = await browser.submit(consent, { decision: 'allow' }, { until: (url) => url.port === `${port}` });
  if (back.status !== 0) throw new Error(`the login led to ${back.url} (${back.status}):\n${back.body}`);
  await fetch(back.url);
}

/**
 * Stands in front of the gateway and adds a token to what passes. Where a header names its own port it gets that of the gateway;
 * everything else stays as it is, the Host and Origin of somebody else included.
 */
export async function startTokenBearer(target: string, token: string): Promise<AsyncDisposable & { url: string }> {
  const { hostname, port, pathname } = new URL(target);
  const server = createServer((request, response) => {
    const own = `:${(server.address() as AddressInfo).port}`;
    const { host = '', origin } = request.headers;
    const headers = {
      ...request.headers,
      host: host.replace(own, `:${port}`),
      ...(origin === undefined ? {} : { origin: origin.replace(own, `:${port}`) }),
      authorization: `Bearer ${token}`,
    };
    const { method, url: path } = request;
    const onward = send({ hostname, port, method, path, headers, agent: false }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.on('error', () => response.destroy());
      answer.pipe(response);
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
