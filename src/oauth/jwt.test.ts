import { createSecretKey } from 'node:crypto';
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { SallyError } from '../base/index.ts';
import { type KeyLookup, verifyJwt } from './jwt.ts';

const NOW = 1_800_000_000_000;
const SECONDS = NOW / 1000;
const ISSUER = 'https://login.example.net';
const AUDIENCE = 'https://mcp.example.net/mcp';
const GOOD = { iss: ISSUER, aud: AUDIENCE, sub: 'alice', exp: SECONDS + 600 };

let pair: Awaited<ReturnType<typeof generateKeyPair>>;
let keys: KeyLookup;
beforeAll(async () => {
  pair = await generateKeyPair('ES256', { extractable: true });
  keys = createLocalJWKSet({ keys: [{ ...(await exportJWK(pair.publicKey)), kid: 'k1', alg: 'ES256' }] });
});

function sign(claims: object, header: object = {}): Promise<string> {
  const kept = Object.fromEntries(Object.entries({ ...GOOD, ...claims }).filter(([, value]) => value !== undefined));
  return new SignJWT(kept as JWTPayload)
    .setProtectedHeader({ alg: 'ES256', kid: 'k1', ...header })
    .sign(pair.privateKey);
}

function verify(token: string, types: 'access-token' | 'any-jwt' = 'any-jwt') {
  return verifyJwt(token, { issuer: ISSUER, audience: AUDIENCE, keys, types, now: () => NOW });
}

describe('a good token', () => {
  it('names its user, client and scopes', async () => {
    expect(await verify(await sign({ client_id: 'desk', scope: 'read write' }))).toEqual({
      ok: true,
      token: expect.objectContaining({
        issuer: ISSUER,
        subject: 'alice',
        clientId: 'desk',
        scopes: ['read', 'write'],
        expiresAt: GOOD.exp * 1000,
      }),
    });
  });

  it.each([
    ['a list of audiences', { aud: ['x', AUDIENCE] }, {}],
    ['clocks a minute apart', { exp: SECONDS - 59, nbf: SECONDS + 60 }, {}],
    ['the type of RFC 9068', {}, { typ: 'at+jwt' }],
    ['its long form', {}, { typ: 'application/at+jwt' }],
    ['the type that most issuers write', {}, { typ: 'JWT' }],
    ['scopes as a list', { scp: ['read'] }, {}],
  ])('may have %s', async (_what, claims, header) => {
    expect(await verify(await sign(claims, header))).toMatchObject({ ok: true });
  });
});

describe('a token is refused', () => {
  it.each<[object, object, string]>([
    [{ exp: SECONDS - 60 }, {}, 'it is expired'],
    [{ exp: undefined }, {}, 'it never expires'],
    [{ exp: String(SECONDS + 600) }, {}, 'it is malformed'],
    [{ nbf: SECONDS + 61 }, {}, 'it is not valid yet'],
    [{ iss: `${ISSUER}/` }, {}, 'it comes from another issuer'],
    [{ iss: undefined }, {}, 'it comes from another issuer'],
    [{ aud: `${AUDIENCE}/` }, {}, 'it is meant for another audience'],
    [{ aud: [] }, {}, 'it is meant for another audience'],
    [{ aud: undefined }, {}, 'it does not say which audience it is meant for'],
    [{ sub: undefined }, {}, 'it names no user'],
    [{ sub: '' }, {}, 'it names no user'],
    [{ sub: 7 }, {}, 'it names no user'],
    [{ cnf: { 'x5t#S256': 'abc' } }, {}, 'it is bound to its client in a way that is not known here'],
    [{ cnf: null }, {}, 'it is bound to its client in a way that is not known here'],
    [{}, { typ: 'dpop+jwt' }, 'its type is not that of an access token'],
    [{}, { typ: 'logout+jwt' }, 'its type is not that of an access token'],
    [{}, { kid: 'k2' }, 'it was signed with a key that the issuer does not publish'],
    [{}, { crit: ['exp'], exp: 1 }, 'it is malformed'],
  ])('with %j %j: %s', async (claims, header, reason) => {
    const token = await sign(claims, header).catch(() => signByHand(claims, header));
    expect(await verify(token)).toEqual({ ok: false, reason });
  });

  /** For headers that the library will not write. */
  async function signByHand(claims: object, header: object): Promise<string> {
    const token = await sign(claims);
    const [, payload, signature] = token.split('.');
    return [
      Buffer.from(JSON.stringify({ alg: 'ES256', kid: 'k1', ...header })).toString('base64url'),
      payload,
      signature,
    ].join('.');
  }

  it('without a signature', async () => {
    const [, payload] = (await sign({})).split('.');
    const none = Buffer.from('{"alg":"none"}').toString('base64url');
    expect(await verify(`${none}.${payload}.`)).toEqual({
      ok: false,
      reason: 'its signature algorithm is not allowed',
    });
  });

  it('signed with our public key as a shared secret', async () => {
    const secret = createSecretKey(Buffer.from(JSON.stringify(await exportJWK(pair.publicKey))));
    const token = await new SignJWT(GOOD).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).sign(secret);
    expect(await verify(token)).toEqual({ ok: false, reason: 'its signature algorithm is not allowed' });
  });

  it('signed by somebody else under the name of our key', async () => {
    const other = await generateKeyPair('ES256');
    const token = await new SignJWT(GOOD).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).sign(other.privateKey);
    expect(await verify(token)).toEqual({ ok: false, reason: 'its signature is wrong' });
  });

  it('changed after it was signed', async () => {
    const [header, , signature] = (await sign({})).split('.');
    const payload = Buffer.from(JSON.stringify({ ...GOOD, sub: 'admin' })).toString('base64url');
    expect(await verify(`${header}.${payload}.${signature}`)).toEqual({ ok: false, reason: 'its signature is wrong' });
  });

  it('that brings its own key', async () => {
    const other = await generateKeyPair('ES256', { extractable: true });
    const jwk = await exportJWK(other.publicKey);
    const header = { alg: 'ES256', kid: 'k1', jwk, jku: 'https://evil.example/keys' };
    const token = await new SignJWT(GOOD).setProtectedHeader(header).sign(other.privateKey);
    expect(await verify(token)).toEqual({ ok: false, reason: 'its signature is wrong' });
  });

  it.each(['', 'a', 'a.b', 'a.b.c', 'a.b.c.d.e', '..', 'e30.e30.e30'])('that is none: %j', async (token) => {
    expect(await verify(token)).toMatchObject({ ok: false });
  });
});

it('of our own server only access tokens count, not its ID tokens', async () => {
  expect(await verify(await sign({}, { typ: 'at+jwt' }), 'access-token')).toMatchObject({ ok: true });
  const wrong = { ok: false, reason: 'its type is not that of an access token' };
  expect(await verify(await sign({}, { typ: 'JWT' }), 'access-token')).toEqual(wrong);
  expect(await verify(await sign({}), 'access-token')).toEqual(wrong);
});

it('keys out of reach are no verdict about the token', async () => {
  const failing: KeyLookup = () => {
    throw new SallyError('incoming.unavailable', 'later');
  };
  const rules = { issuer: ISSUER, audience: AUDIENCE, keys: failing, types: 'any-jwt', now: () => NOW } as const;
  await expect(verifyJwt(await sign({}), rules)).rejects.toMatchObject({ code: 'incoming.unavailable' });
});

it('a weak key of the issuer is its trouble, not the fault of the token', async () => {
  const weak = await exportJWK((await generateKeyPair('RS256', { modulusLength: 2048, extractable: true })).publicKey);
  const broken = createLocalJWKSet({ keys: [{ ...weak, n: 'AQAB', kid: 'k1' }] });
  const [, payload, signature] = (await sign({})).split('.');
  const header = Buffer.from('{"alg":"RS256","kid":"k1"}').toString('base64url');
  const rules = { issuer: ISSUER, audience: AUDIENCE, keys: broken, types: 'any-jwt', now: () => NOW } as const;
  await expect(verifyJwt(`${header}.${payload}.${signature}`, rules)).rejects.toMatchObject({
    code: 'incoming.unavailable',
  });
});
