import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import type { IdentityProvider } from './identity-provider.ts';

/** A request for a token in exchange for another one, with whom it was for. */
export interface Exchanged {
  readonly user: string;
  readonly form: URLSearchParams;
  readonly token: string;
}

export interface TokenExchange extends AsyncDisposable {
  readonly tokenUrl: string;
  client: { readonly id: string; readonly secret: string };
  /** The client says its name and proves nothing. */
  isPublic: boolean;
  /** What subject tokens must be said to be. */
  subjectTokenType: string;
  readonly exchanges: readonly Exchanged[];
  /** Tokens of this issuer are exchanged too, such as those of the gateway. */
  trustedIssuer: string | undefined;
  /** Seconds that a new token is good for; absent when the answer does not say. */
  lifetime: number | undefined;
  readonly faults: { status?: number; error?: string };
  /** For whom a token was made, unless it was taken back. */
  userOf(token: string): string | undefined;
  takeBack(token: string): void;
}

const GRANT = 'urn:ietf:params:oauth:grant-type:token-exchange';
const TYPES = 'urn:ietf:params:oauth:token-type:';

/** RFC 8693 as an identity provider offers it: its own access tokens, and those of an issuer it trusts, become others. */
export async function startTokenExchange(provider: Pick<IdentityProvider, 'userOf'>): Promise<TokenExchange> {
  const exchanges: Exchanged[] = [];
  const users = new Map<string, string>();
  let keys: ReturnType<typeof createRemoteJWKSet> | undefined;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const form = new URLSearchParams(body);
    const { faults } = exchange;
    if (faults.status) return void response.writeHead(faults.status).end('not now');
    const error = faults.error ?? whyRefused(form, request.headers.authorization);
    if (error) return json(response, 400, { error });
    const subject = form.get('subject_token') ?? '';
    const user = (await provider.userOf(subject)) ?? (await userOfTrusted(subject));
    if (user === undefined) return json(response, 400, { error: 'invalid_grant' });
    const token = `exchanged-${randomBytes(16).toString('hex')}`;
    users.set(token, user);
    exchanges.push({ user, form, token });
    json(response, 200, {
      access_token: token,
      issued_token_type: `${TYPES}access_token`,
      token_type: 'Bearer',
      ...(exchange.lifetime === undefined ? {} : { expires_in: exchange.lifetime }),
    });
  }

  function whyRefused(form: URLSearchParams, authorization = ''): string | undefined {
    if (form.get('grant_type') !== GRANT) return 'unsupported_grant_type';
    if (form.get('subject_token_type') !== `${TYPES}${exchange.subjectTokenType}`) return 'invalid_request';
    const { client } = exchange;
    if (exchange.isPublic)
      return authorization === '' && form.get('client_id') === client.id ? undefined : 'invalid_client';
    const words = Buffer.from(authorization.replace('Basic ', ''), 'base64').toString().split(':');
    // RFC 6749 §2.3.1: both are form-encoded before they are joined.
    const [id, secret] = words.map((word) => decodeURIComponent(word.replaceAll('+', ' ')));
    return id === client.id && secret === client.secret ? undefined : 'invalid_client';
  }

  /** Whom the gateway means by a user is for the gateway to say: the test gets what stands in its token. */
  async function userOfTrusted(token: string): Promise<string | undefined> {
    const issuer = exchange.trustedIssuer;
    if (issuer === undefined || token.split('.').length !== 3) return undefined;
    keys ??= createRemoteJWKSet(new URL(`${issuer}/.well-known/jwks.json`));
    const { payload } = await jwtVerify(token, keys, { issuer, typ: 'at+jwt' });
    return payload.sub;
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => json(response, 500, { error: String(error) }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const exchange: TokenExchange = {
    tokenUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/exchange`,
    client: { id: 'gateway at the exchange', secret: `a secret: ${randomBytes(16).toString('base64url')}` },
    isPublic: false,
    subjectTokenType: 'access_token',
    exchanges,
    trustedIssuer: undefined,
    lifetime: 300,
    faults: {},
    userOf: (token) => users.get(token),
    takeBack: (token) => void users.delete(token),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return exchange;
}

function json(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
