import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OAuth2ProviderOptions {
  readonly name?: string;
  /** Its answers at the token endpoint: plain members, form-encoded as GitHub's by default, or nested as Slack's. */
  readonly tokenResponse?: 'flat' | 'form' | 'nested';
  /** The user's id, digit by digit as it stands in the JSON of the userinfo answer. */
  readonly userId?: string;
  /** Where it may send users back to, up to the query; the port does not count. */
  readonly redirectUris?: readonly string[];
  /** Logs the user in without showing a page. */
  readonly automatic?: boolean;
}

export interface OAuth2Provider extends AsyncDisposable {
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userInfoEndpoint: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** Whether its token answers have the tokens of the user one level down. */
  readonly nests: boolean;
  /** Without a page, or with buttons. */
  automatic: boolean;
  readonly faults: {
    down?: boolean;
    deny?: boolean;
    /** An error in a 200, as GitHub does. */
    tokenError?: string;
    noAccessToken?: boolean;
    userInfoStatus?: number;
    /** The userinfo answer, word for word. */
    userInfo?: string;
  };
  calls(endpoint: 'authorize' | 'token' | 'user'): number;
  readonly authorizations: readonly URLSearchParams[];
  /** The headers of the last request to the userinfo endpoint. */
  userInfoHeaders(): IncomingMessage['headers'];
  /** What it issued last. */
  accessToken(): string;
  refreshToken(): string;
}

/** A provider of plain OAuth 2: no discovery, no ID token, ids that a double cannot hold. As GitHub and Slack are. */
export async function startOAuth2Provider(options: OAuth2ProviderOptions = {}): Promise<OAuth2Provider> {
  const { name = 'hub', tokenResponse = 'flat', userId = '9007199254740993' } = options;
  const redirectUris = options.redirectUris ?? ['http://127.0.0.1/oauth/callback'];
  const client = { id: `sallyport-at-${name}`, secret: randomBytes(24).toString('base64url') };
  const calls = new Map<string, number>();
  const codes = new Map<string, { readonly challenge: string | null; readonly redirectUri: string }>();
  const authorizations: URLSearchParams[] = [];
  const tokens = { access: '', refresh: '' };
  let userInfoHeaders: IncomingMessage['headers'] = {};

  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', origin);
    const endpoint = url.pathname.slice(1);
    calls.set(endpoint, (calls.get(endpoint) ?? 0) + 1);
    if (provider.faults.down) return void request.socket.destroy();
    if (endpoint === 'authorize') return authorize(url, response);
    if (endpoint === 'token' && request.method === 'POST') return void token(request, response);
    if (endpoint === 'user') return userInfo(request, response);
    response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  function authorize(url: URL, response: ServerResponse): void {
    const asked = url.searchParams;
    const redirect = new URL(asked.get('redirect_uri') ?? 'about:blank');
    const known = redirectUris.some((uri) => withoutPort(uri) === withoutPort(redirect.href));
    if (asked.get('client_id') !== client.id || !known) return void response.writeHead(400).end('unknown client');
    const pressed = asked.get('answer');
    if (pressed === null) authorizations.push(asked);
    const answer = provider.faults.deny ? 'no' : (pressed ?? (provider.automatic ? 'yes' : undefined));
    if (answer === undefined) return void loginPage(url, response);
    const state = asked.get('state');
    if (state !== null) redirect.searchParams.set('state', state);
    if (answer === 'no') {
      redirect.searchParams.set('error', 'access_denied');
      redirect.searchParams.set('error_description', '<script>alert(1)</script>');
    } else {
      const code = randomBytes(16).toString('hex');
      codes.set(code, { challenge: asked.get('code_challenge'), redirectUri: asked.get('redirect_uri') ?? '' });
      redirect.searchParams.set('code', code);
    }
    response.writeHead(302, { location: redirect.href }).end();
  }

  function loginPage(url: URL, response: ServerResponse): void {
    const link = (answer: string) => {
      const next = new URL(url);
      next.searchParams.set('answer', answer);
      return `${next.pathname}${next.search}`.replaceAll('&', '&amp;');
    };
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(
      `<!doctype html><html lang="en"><title>${name}</title><h1>Log in at ${name}</h1>
       <p><a href="${link('yes')}">Authorize</a></p><p><a href="${link('no')}">Cancel</a></p></html>`,
    );
  }

  async function token(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const form = new URLSearchParams(body);
    const error = provider.faults.tokenError ?? whyRefused(form, request.headers.authorization);
    if (error) return json(response, { ok: false, error });
    Object.assign(tokens, {
      access: `${name}-${randomBytes(16).toString('hex')}`,
      refresh: randomBytes(16).toString('hex'),
    });
    const issued = {
      ...(provider.faults.noAccessToken ? {} : { access_token: tokens.access }),
      token_type: 'bearer',
      refresh_token: tokens.refresh,
      expires_in: 3600,
      scope: 'repo',
    };
    if (tokenResponse === 'nested') {
      return json(response, { ok: true, team: { id: 'T1' }, authed_user: { id: `U${userId}`, ...issued } });
    }
    if (tokenResponse === 'flat' || request.headers.accept?.includes('application/json')) return json(response, issued);
    const encoded = new URLSearchParams(
      Object.entries(issued).map(([key, value]): [string, string] => [key, String(value)]),
    );
    response.writeHead(200, { 'content-type': 'application/x-www-form-urlencoded' }).end(encoded.toString());
  }

  function whyRefused(form: URLSearchParams, authorization: string | undefined): string | undefined {
    const [id, secret] = authorization?.startsWith('Basic ')
      ? Buffer.from(authorization.slice(6), 'base64').toString().split(':').map(decodeURIComponent)
      : [form.get('client_id'), form.get('client_secret')];
    if (id !== client.id || secret !== client.secret) return 'incorrect_client_credentials';
    if (form.get('grant_type') === 'refresh_token') {
      return form.get('refresh_token') === tokens.refresh ? undefined : 'invalid_grant';
    }
    const code = codes.get(form.get('code') ?? '');
    codes.delete(form.get('code') ?? '');
    if (!code || code.redirectUri !== form.get('redirect_uri')) return 'bad_verification_code';
    if (!code.challenge) return undefined;
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    return challenge === code.challenge ? undefined : 'bad_verification_code';
  }

  function userInfo(request: IncomingMessage, response: ServerResponse): void {
    userInfoHeaders = request.headers;
    const { userInfoStatus, userInfo: told } = provider.faults;
    if (userInfoStatus) return void response.writeHead(userInfoStatus).end();
    if (request.headers.authorization !== `Bearer ${tokens.access}`) return void response.writeHead(401).end();
    const text = told ?? `{"id": ${userId}, "login": "octo", "name": "Octo Example", "email": "octo@example.test"}`;
    response.writeHead(200, { 'content-type': 'application/json' }).end(text);
  }

  const provider: OAuth2Provider = {
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    userInfoEndpoint: `${origin}/user`,
    client,
    nests: tokenResponse === 'nested',
    automatic: options.automatic ?? false,
    faults: {},
    authorizations,
    calls: (endpoint) => calls.get(endpoint) ?? 0,
    userInfoHeaders: () => userInfoHeaders,
    accessToken: () => tokens.access,
    refreshToken: () => tokens.refresh,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return provider;
}

function json(response: ServerResponse, body: object): void {
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function withoutPort(uri: string): string {
  const url = new URL(uri);
  url.port = '';
  url.search = '';
  return url.href;
}
