import { createHash, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import type { Certificate } from './certificate.ts';

/** What an issuer can be made to do wrong. */
export type Mood =
  | 'well'
  /** Answers nothing but 503. */
  | 'down'
  /** Takes requests and never answers. */
  | 'silent'
  /** Its document names another issuer. */
  | 'impostor'
  /** Has only the document of RFC 8414. */
  | 'oauth-only'
  /** Sends everybody elsewhere. */
  | 'redirecting'
  /** Key sets without an end. */
  | 'endless';

export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TokenOptions {
  readonly alg?: string;
  readonly header?: Readonly<Record<string, unknown>>;
}

export interface TokenIssuer extends AsyncDisposable {
  readonly url: string;
  readonly audience: string;
  readonly seen: Seen[];
  mood: Mood;
  /** Members that replace those of its discovery document. */
  document: Readonly<Record<string, unknown>>;
  /** What introspection answers, by token. */
  readonly opaque: Map<string, Readonly<Record<string, unknown>>>;
  /** The names and secrets that introspection asks for, as `id:secret`; nobody is asked when empty. */
  client: string;
  /** A signed token of alice for the audience; a claim of `undefined` is left out. */
  token(claims?: Readonly<Record<string, unknown>>, options?: TokenOptions): Promise<string>;
  /** Signs with a new key from now on, and publishes only that. */
  rotate(): Promise<void>;
  /** How many times the key set was read. */
  keyReads(): number;
}

type Pair = Awaited<ReturnType<typeof generateKeyPair>>;

/** A real issuer over HTTP: signs tokens, serves discovery, keys and introspection. It answers any path below its own. */
export async function startTokenIssuer({
  path = '',
  tls,
  audience = 'https://mcp.example.net/mcp',
}: {
  readonly path?: string;
  readonly tls?: Certificate;
  readonly audience?: string;
} = {}): Promise<TokenIssuer> {
  const seen: Seen[] = [];
  const opaque: TokenIssuer['opaque'] = new Map();
  let keys = await newKeys();

  const handler = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const server = tls ? createTlsServer(tls, handler) : createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const origin = `${tls ? 'https' : 'http'}://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const url = `${origin}${path}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    seen.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body });
    const send = (value: unknown, status = 200): void =>
      void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
    if (issuer.mood === 'silent') return;
    if (issuer.mood === 'down') return send({}, 503);
    if (issuer.mood === 'redirecting')
      return void response.writeHead(302, { location: 'http://169.254.169.254/' }).end();
    const document = {
      issuer: issuer.mood === 'impostor' ? 'https://impostor.example' : url,
      jwks_uri: `${url}/keys`,
      introspection_endpoint: `${url}/introspect`,
      ...issuer.document,
    };
    switch (request.url) {
      case `${path.replace(/\/$/, '')}/.well-known/openid-configuration`:
        return issuer.mood === 'oauth-only' ? send({}, 404) : send(document);
      case `/.well-known/oauth-authorization-server${path.replace(/\/$/, '')}`:
        return send(document);
      case `${path}/keys`:
      case '/openid/v1/jwks':
        if (issuer.mood === 'endless') return void response.writeHead(200).end(Buffer.alloc(2 * 1024 * 1024, ' '));
        return send({ keys: await published(keys) });
      case `${path}/introspect`: {
        const known = `Basic ${Buffer.from(issuer.client).toString('base64')}`;
        if (issuer.client !== '' && request.headers.authorization !== known) return send({}, 401);
        return send(opaque.get(new URLSearchParams(body).get('token') ?? '') ?? { active: false });
      }
      default:
        return send({}, 404);
    }
  }

  const issuer: TokenIssuer = {
    url,
    audience,
    seen,
    opaque,
    mood: 'well',
    document: {},
    client: '',
    async token(claims = {}, { alg = 'ES256', header = {} } = {}) {
      const pair = keys.get(alg);
      if (!pair) throw new Error(`no key for ${alg}`);
      const now = Math.floor(Date.now() / 1000);
      const all = { iss: url, aud: audience, sub: 'alice', client_id: 'desk', iat: now, exp: now + 600, ...claims };
      const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      const kid = await calculateJwkThumbprint(await exportJWK(pair.publicKey));
      return await new SignJWT(kept as JWTPayload).setProtectedHeader({ alg, kid, ...header }).sign(pair.privateKey);
    },
    async rotate() {
      keys = await newKeys();
    },
    keyReads: () => seen.filter(({ path: read }) => read.endsWith('/keys') || read.endsWith('/jwks')).length,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return issuer;
}

async function newKeys(): Promise<ReadonlyMap<string, Pair>> {
  const pairs = ['RS256', 'PS256', 'ES256', 'ES384', 'EdDSA'].map(
    async (alg) => [alg, await generateKeyPair(alg, { extractable: true })] as const,
  );
  return new Map(await Promise.all(pairs));
}

async function published(keys: ReadonlyMap<string, Pair>): Promise<readonly object[]> {
  return await Promise.all(
    [...keys].map(async ([alg, { publicKey }]) => {
      const jwk = await exportJWK(publicKey);
      return { ...jwk, alg, use: 'sig', kid: await calculateJwkThumbprint(jwk) };
    }),
  );
}

/** A client that holds a key, and proves it with each request (RFC 9449). */
export interface ProofMaker {
  readonly thumbprint: string;
  prove(
    claims: { readonly htm: string; readonly htu: string; readonly token: string },
    over?: ProofOver,
  ): Promise<string>;
}

interface ProofOver {
  readonly claims?: Readonly<Record<string, unknown>>;
  readonly header?: Readonly<Record<string, unknown>>;
}

export async function createProofMaker(): Promise<ProofMaker> {
  const { publicKey, privateKey } = await generateKeyPair('ES256', { extractable: true });
  const jwk = await exportJWK(publicKey);
  return {
    thumbprint: await calculateJwkThumbprint(jwk),
    async prove({ htm, htu, token }, { claims = {}, header = {} } = {}) {
      const ath = createHash('sha256').update(token).digest('base64url');
      const all = { htm, htu, ath, jti: randomUUID(), iat: Math.floor(Date.now() / 1000), ...claims };
      const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
      return await new SignJWT(kept)
        .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
        .sign(privateKey);
    },
  };
}
