import { generateKeyPairSync, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { importJWK, type JWTPayload, SignJWT } from 'jose';
import { type ClientAuthMethod, type ClientMetadata, Provider } from 'oidc-provider';
import { memoryAdapter } from '../../examples/identity-provider/memory.ts';

export interface TestUser {
  readonly name: string;
  readonly email: string;
  readonly emailVerified: boolean;
}

export interface IdentityProviderOptions {
  /** Shown on its login page. */
  readonly name?: string;
  readonly users?: Readonly<Record<string, TestUser>>;
  /** How its only client has to prove who it is. */
  readonly clientAuth?: 'client_secret_basic' | 'client_secret_post' | 'private_key_jwt' | 'none';
  /** Where it may send users back to. The port of a loopback address does not count. */
  readonly redirectUris?: readonly string[];
  /** Who is logged in without a page being shown; otherwise a browser has to press a button. */
  readonly user?: string;
  /** Name and email are told at the userinfo endpoint only. */
  readonly sparseIdTokens?: boolean;
  /** Seconds until an access token expires. */
  readonly accessTokenTtl?: number;
}

/** What goes wrong, from the next request on. */
export interface Faults {
  /** Hangs up on every request. */
  down?: boolean;
  /** Every request waits this many milliseconds. */
  slow?: number;
  /** The user, or an administrator for him, says no. */
  deny?: boolean;
  /** The token endpoint answers with this status and no OAuth error. */
  tokenStatus?: number;
  /** No answer of the token endpoint has a refresh token. */
  noRefreshToken?: boolean;
  /** Claims of ID tokens, changed before they are signed anew: another nonce, issuer or audience. */
  idToken?: (claims: JWTPayload) => JWTPayload;
  /** The `iss` that comes with an authorization response (RFC 9207); `undefined` leaves it out. */
  responseIssuer?: { readonly iss: string | undefined };
  /** Members of the discovery document. */
  discovery?: Readonly<Record<string, unknown>>;
}

export interface IdentityProvider extends AsyncDisposable {
  readonly issuer: string;
  /** Its only client. `privateKey` is a PEM for `private_key_jwt`. */
  readonly client: { readonly id: string; readonly secret: string; readonly privateKey: string };
  /** May be changed at any time, like `faults`. A `login_hint` in the authorization request wins. */
  user: string | undefined;
  readonly faults: Faults;
  /** How often an endpoint was called: discovery, authorize, token, keys, userinfo, revoke, introspect, interaction. */
  calls(endpoint: string): number;
  /** The parameters of all authorization requests, oldest first. */
  readonly authorizations: readonly URLSearchParams[];
  /** The refresh tokens that it was shown, oldest first. */
  readonly refreshes: readonly string[];
  /** The access token that was issued for a user last. */
  accessTokenOf(user: string): string;
  refreshTokenOf(user: string): string | undefined;
  /** Whether it still honours an access or refresh token. */
  honours(token: string): Promise<boolean>;
  /** Whose access token it is, as long as it honours it. */
  userOf(token: string): Promise<string | undefined>;
}

const USERS: Readonly<Record<string, TestUser>> = {
  alice: { name: 'Alice Example', email: 'alice@example.test', emailVerified: true },
  bob: { name: 'Bob Example', email: 'bob@example.test', emailVerified: true },
};

/**
 * A real OpenID provider of somebody else, on a free port: what the authorization server sends users to. Refresh tokens rotate,
 * and the second use of one ends its whole grant.
 */
export async function startIdentityProvider(options: IdentityProviderOptions = {}): Promise<IdentityProvider> {
  const { name = 'corp', users = USERS, clientAuth = 'client_secret_basic' } = options;
  const server = createServer();
  const issuer = await listen(server);
  const signing = { ...rsaKey(), kid: randomUUID(), alg: 'RS256', use: 'sig' };
  const clientKey = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const client = {
    id: `sallyport-at-${name}`,
    secret: `secret of ${name}: ${randomBytes(24).toString('base64url')}`,
    privateKey: clientKey.privateKey.export({ format: 'pem', type: 'pkcs8' }).toString(),
  };
  const faults: Faults = {};
  const calls = new Map<string, number>();
  const authorizations: URLSearchParams[] = [];
  const refreshes: string[] = [];
  const issued = new Map<string, { access: string; refresh: string | undefined }>();

  const provider = new Provider(issuer, {
    adapter: memoryAdapter(),
    jwks: { keys: [signing] },
    clients: [
      {
        client_id: client.id,
        application_type: 'native', // the port of a loopback redirect address is free then
        redirect_uris: [...(options.redirectUris ?? ['http://127.0.0.1/oauth/callback'])],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: clientAuth,
        ...clientCredentials(),
      },
    ],
    clientAuthMethods: [clientAuth] satisfies ClientAuthMethod[],
    routes: {
      authorization: '/authorize',
      token: '/token',
      jwks: '/keys',
      userinfo: '/userinfo',
      revocation: '/revoke',
      introspection: '/introspect',
    },
    // Providers on one host share its cookies, whatever their ports.
    cookies: {
      keys: [randomUUID()],
      names: { session: `${name}_session`, interaction: `${name}_interaction`, resume: `${name}_resume` },
    },
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: options.sparseIdTokens ?? false,
    scopes: ['openid', 'offline_access', 'profile', 'email'],
    findAccount: (_context, id) => accountOf(id),
    interactions: { url: (_context, { uid }) => `/interaction/${uid}` },
    features: {
      devInteractions: { enabled: false },
      revocation: { enabled: true },
      introspection: { enabled: true },
      rpInitiatedLogout: { enabled: false },
    },
    pkce: { required: () => true },
    issueRefreshToken: () => true,
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    ttl: {
      AccessToken: options.accessTokenTtl ?? 300,
      RefreshToken: 3600,
      AuthorizationCode: 60,
      IdToken: 300,
      Interaction: 600,
      Grant: 3600,
      Session: 600,
    },
    // Whoever logs in has agreed to everything.
    async loadExistingGrant({ oidc }) {
      const grant = new oidc.provider.Grant({
        accountId: oidc.session?.accountId ?? '',
        clientId: oidc.client?.clientId ?? '',
      });
      grant.addOIDCScope(String(oidc.params?.scope ?? ''));
      await grant.save();
      return grant;
    },
  });

  provider.use(async (context, next) => {
    await next();
    const { body } = context;
    const shown = context.path === '/token' ? context.oidc?.params?.refresh_token : undefined;
    if (typeof shown === 'string') refreshes.push(shown);
    if (context.path === '/token' && isObject(body) && typeof body.access_token === 'string') {
      if (faults.noRefreshToken) delete body.refresh_token;
      if (faults.idToken && typeof body.id_token === 'string') body.id_token = await forged(body.id_token);
      issued.set(context.oidc.account?.accountId ?? '', {
        access: body.access_token,
        refresh: typeof body.refresh_token === 'string' ? body.refresh_token : undefined,
      });
    }
    if (context.path.startsWith('/.well-known/') && isObject(body)) Object.assign(body, faults.discovery);
    const location = context.response.get('location');
    if (faults.responseIssuer && URL.canParse(location) && new URL(location).searchParams.has('iss')) {
      const changed = new URL(location);
      changed.searchParams.delete('iss');
      if (faults.responseIssuer.iss !== undefined) changed.searchParams.set('iss', faults.responseIssuer.iss);
      context.set('location', changed.href);
    }
  });

  const answer = provider.callback();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    handle(request, response).catch((error: unknown) => {
      response.writeHead(500).end(`the identity provider of the test failed: ${String(error)}`);
    });
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer);
    const endpoint = (url.pathname.split('/')[1] ?? '').replace('.well-known', 'discovery');
    calls.set(endpoint, (calls.get(endpoint) ?? 0) + 1);
    if (faults.slow) await sleep(faults.slow);
    if (faults.down) return void request.socket.destroy();
    if (endpoint === 'token' && faults.tokenStatus) return void response.writeHead(faults.tokenStatus).end('not now');
    if (url.pathname === '/authorize') authorizations.push(url.searchParams);
    if (endpoint === 'interaction') return await interact(request, response);
    forgetSession(request);
    await answer(request, response);
  }

  /** Who it is comes from the test, from the `login_hint`, or from a button. */
  async function interact(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { params } = await provider.interactionDetails(request, response);
    let user = idp.user ?? undefined;
    if (typeof params.login_hint === 'string') user = params.login_hint;
    if (request.method === 'POST') user = new URLSearchParams(await textOf(request)).get('user') ?? '';
    if (user === undefined && !faults.deny) return loginPage(response);
    const denied = faults.deny || !Object.hasOwn(users, user ?? '');
    await provider.interactionFinished(
      request,
      response,
      denied
        ? { error: 'access_denied', error_description: `${name} says: <b>no</b>` }
        : { login: { accountId: user ?? '' }, consent: {} }, // native clients are asked for consent each time
      { mergeWithLastSubmission: false },
    );
  }

  function loginPage(response: ServerResponse): void {
    const buttons = Object.entries(users).map(
      ([id, user]) => `<p><button name="user" value="${id}">Log in as ${user.name}</button></p>`,
    );
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(
      `<!doctype html><html lang="en"><title>${name}</title><h1>Log in at ${name}</h1>
       <form method="post">${buttons.join('')}<p><button name="user" value="">Cancel</button></p></form></html>`,
    );
  }

  function clientCredentials(): Partial<ClientMetadata> {
    if (clientAuth === 'none') return {};
    if (clientAuth !== 'private_key_jwt') return { client_secret: client.secret };
    return {
      jwks: { keys: [{ ...clientKey.publicKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig' }] } as never,
      token_endpoint_auth_signing_alg: 'ES256',
    };
  }

  function accountOf(id: string) {
    const user = users[id];
    if (!user) return undefined;
    return {
      accountId: id,
      claims: () => ({ sub: id, name: user.name, email: user.email, email_verified: user.emailVerified }),
    };
  }

  async function forged(idToken: string): Promise<string> {
    const claims = JSON.parse(Buffer.from(idToken.split('.')[1] ?? '', 'base64url').toString()) as JWTPayload;
    return await new SignJWT(faults.idToken?.(claims) ?? claims)
      .setProtectedHeader({ alg: 'RS256', kid: signing.kid })
      .sign(await importJWK(signing, 'RS256'));
  }

  /** A login here never carries over to the next one, so that each test says who comes. */
  function forgetSession(request: IncomingMessage): void {
    const cookies = request.headers.cookie?.split('; ').filter((cookie) => !cookie.startsWith(`${name}_session`));
    if (cookies) request.headers.cookie = cookies.join('; ');
  }

  const idp: IdentityProvider = {
    issuer,
    client,
    user: options.user,
    faults,
    authorizations,
    refreshes,
    calls: (endpoint) => calls.get(endpoint) ?? 0,
    accessTokenOf(user) {
      const tokens = issued.get(user);
      if (!tokens) throw new Error(`${name} has not issued a token for ${user}`);
      return tokens.access;
    },
    refreshTokenOf: (user) => issued.get(user)?.refresh,
    async honours(token) {
      const found = (await provider.AccessToken.find(token)) ?? (await provider.RefreshToken.find(token));
      return found?.isValid === true;
    },
    async userOf(token) {
      const found = await provider.AccessToken.find(token);
      return found?.isValid === true ? found.accountId : undefined;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return idp;
}

async function listen(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function rsaKey(): { kty: 'RSA'; n: string; e: string; d: string } {
  return generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }) as never;
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Buffer.isBuffer(value);
}
