import { generateKeyPairSync, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { type JWK, Provider } from 'oidc-provider';
import { offerTokenExchange, TOKEN_EXCHANGE } from './exchange.ts';
import { memoryAdapter } from './memory.ts';
import { LOGIN_HEADERS, loginPage } from './page.ts';
import { USERS } from './users.ts';

/** NOT FOR PRODUCTION: no passwords, and keys and logins that end with the process. */

export interface IdentityProvider {
  readonly issuer: string;
  close(): Promise<void>;
}

export interface IdentityProviderOptions {
  /** What it calls itself on its page: lower-case letters, digits and dashes. */
  readonly name?: string;
  /** With a secret its client proves who it is, and may exchange tokens (RFC 8693). Without one anybody can claim to be it. */
  readonly clientSecret?: string;
}

const LOGIN_GRANTS = ['authorization_code', 'refresh_token'];
/** A form with one button pressed is far smaller. */
const LONGEST_FORM = 1024;

/** Listens on this machine only, which cannot be changed. Fails with `EADDRINUSE` when the port is taken. */
export async function startIdentityProvider(
  port: number,
  { name = 'development', clientSecret }: IdentityProviderOptions = {},
): Promise<IdentityProvider> {
  if (!/^[a-z][a-z0-9-]{0,31}$/.test(name)) throw new Error(`${name} is no name: use letters, digits and dashes`);
  // Cookies know hosts and no ports: these must not be taken for those of the gateway, or of another provider, beside it.
  const cookie = `dev_idp_${name}`;
  const server = createServer();
  await listen(server, port);
  const { port: taken } = server.address() as { port: number };
  const issuer = `http://127.0.0.1:${taken}`;
  const provider = createProvider(issuer, cookie, clientSecret);
  const answer = provider.callback();

  server.on('request', (request, response) => {
    // A page elsewhere could point a name of its own at this machine; and the library builds its addresses from this header.
    if (request.headers.host !== `127.0.0.1:${taken}`) return void response.writeHead(421).end();
    forgetSession(request, cookie);
    const handled = request.url?.startsWith('/login/')
      ? login(provider, name, request, response)
      : answer(request, response);
    handled.catch(() => {
      if (!response.headersSent) response.writeHead(400, { 'content-type': 'text/plain' });
      response.end('This login is over, or never began. Start again in your MCP client.\n');
    });
  });

  return {
    issuer,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function createProvider(issuer: string, cookie: string, clientSecret: string | undefined): Provider {
  const provider = new Provider(issuer, {
    adapter: memoryAdapter(),
    jwks: { keys: [signingKey()] },
    clients: [
      {
        client_id: 'sallyport-quickstart',
        application_type: 'native', // so that the port of the gateway does not matter
        redirect_uris: ['http://127.0.0.1/oauth/callback'],
        response_types: ['code'],
        ...(clientSecret === undefined
          ? { token_endpoint_auth_method: 'none', grant_types: LOGIN_GRANTS }
          : { client_secret: clientSecret, grant_types: [...LOGIN_GRANTS, TOKEN_EXCHANGE] }),
      },
    ],
    clientAuthMethods: [clientSecret === undefined ? 'none' : 'client_secret_basic'],
    claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'] },
    conformIdTokenClaims: false, // name and email in the ID token, as most providers do
    findAccount: (_context, id) => accountOf(id),
    pkce: { required: () => true },
    interactions: { url: (_context, { uid }) => `/login/${uid}` },
    cookies: {
      keys: [randomUUID()],
      names: { session: `${cookie}_session`, interaction: `${cookie}_interaction`, resume: `${cookie}_resume` },
    },
    features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
    issueRefreshToken: (_context, client) => client.grantTypeAllowed('refresh_token'),
    rotateRefreshToken: true,
    expiresWithSession: () => false,
    ttl: {
      AccessToken: 3600,
      AuthorizationCode: 60,
      Grant: 86_400,
      IdToken: 3600,
      Interaction: 600,
      RefreshToken: 86_400,
      Session: 60,
    },
    // Choosing a user is all the consent there is.
    async loadExistingGrant({ oidc }) {
      const { session, client, params } = oidc;
      const grant = new oidc.provider.Grant({ accountId: session?.accountId ?? '', clientId: client?.clientId ?? '' });
      grant.addOIDCScope(String(params?.scope ?? ''));
      await grant.save();
      return grant;
    },
  });
  if (clientSecret !== undefined) offerTokenExchange(provider);
  return provider;
}

async function login(
  provider: Provider,
  name: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  await provider.interactionDetails(request, response); // throws unless this browser began the login
  if (request.method !== 'POST') return void response.writeHead(200, LOGIN_HEADERS).end(loginPage(name));
  const user = new URLSearchParams(await formOf(request)).get('user') ?? '';
  const result = accountOf(user)
    ? { login: { accountId: user }, consent: {} }
    : { error: 'access_denied', error_description: 'the user cancelled the login' };
  await provider.interactionFinished(request, response, result, { mergeWithLastSubmission: false });
}

/** Each login asks anew, so that one can be somebody else the next time. */
function forgetSession({ headers }: IncomingMessage, name: string): void {
  const kept = headers.cookie?.split('; ').filter((cookie) => !cookie.startsWith(`${name}_session`));
  if (kept) headers.cookie = kept.join('; ');
}

function accountOf(id: string) {
  const user = USERS.find((one) => one.id === id);
  if (!user) return undefined;
  const { name, email } = user;
  return { accountId: id, claims: () => ({ sub: id, name, email, email_verified: true }) };
}

function signingKey(): JWK {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return { ...privateKey.export({ format: 'jwk' }), kid: randomUUID(), alg: 'RS256', use: 'sig' } as JWK;
}

async function listen(server: Server, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve);
  });
}

async function formOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) {
    text += chunk;
    if (text.length > LONGEST_FORM) throw new Error('this is no form of ours');
  }
  return text;
}
