import { createHash, randomUUID } from 'node:crypto';
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK, SignJWT } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { createProofs } from './dpop.ts';

const NOW = 1_800_000_000_000;
const URL_ = 'https://mcp.example.net/mcp';
const TOKEN = 'the-access-token';

let pair: Awaited<ReturnType<typeof generateKeyPair>>;
let jwk: JWK;
let boundTo: string;
beforeAll(async () => {
  pair = await generateKeyPair('ES256', { extractable: true });
  jwk = await exportJWK(pair.publicKey);
  boundTo = await calculateJwkThumbprint(jwk);
});

async function prove(claims: object = {}, header: object = {}): Promise<string> {
  const ath = createHash('sha256').update(TOKEN).digest('base64url');
  const all = { htm: 'POST', htu: URL_, ath, jti: randomUUID(), iat: NOW / 1000, ...claims };
  const kept = Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
  return await new SignJWT(kept)
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk, ...header })
    .sign(pair.privateKey);
}

function request(proof: string) {
  return { proof, accessToken: TOKEN, boundTo, method: 'POST', urls: [URL_] };
}

describe('a proof is good', () => {
  it('when the token is bound to its key', async () => {
    expect(await createProofs(() => NOW)(request(await prove()))).toEqual({ ok: true });
  });

  it.each([
    ['with another spelling of the same address', { htu: 'HTTPS://MCP.example.net:443/mcp?x=1#y' }],
    ['by a clock that is off by some minutes', { iat: NOW / 1000 + 299 }],
    ['by one that is late', { iat: NOW / 1000 - 299 }],
  ])('%s', async (_what, claims) => {
    expect(await createProofs(() => NOW)(request(await prove(claims)))).toMatchObject({ ok: true });
  });
});

describe('a proof is wrong', () => {
  it.each<[string, object, object]>([
    ['for another method', { htm: 'GET' }, {}],
    ['for another address', { htu: 'https://evil.example/mcp' }, {}],
    ['for another path', { htu: 'https://mcp.example.net/other' }, {}],
    ['for http in place of https', { htu: 'http://mcp.example.net/mcp' }, {}],
    ['from long ago', { iat: NOW / 1000 - 301 }, {}],
    ['from the future', { iat: NOW / 1000 + 301 }, {}],
    ['for another token', { ath: 'x' }, {}],
    ['for no token', { ath: undefined }, {}],
    ['without an id', { jti: undefined }, {}],
    ['with an endless id', { jti: 'x'.repeat(300) }, {}],
    ['without a time', { iat: undefined }, {}],
    ['of another type', {}, { typ: 'JWT' }],
    ['without its key', {}, { jwk: undefined }],
  ])('%s', async (_what, claims, header) => {
    expect(await createProofs(() => NOW)(request(await prove(claims, header)))).toEqual({
      ok: false,
      reason: 'the proof of its key is wrong',
    });
  });

  it('that gives the private key away', async () => {
    const proof = await prove({}, { jwk: await exportJWK(pair.privateKey) });
    expect(await createProofs(() => NOW)(request(proof))).toMatchObject({ ok: false });
  });

  it('with a shared secret for a key', async () => {
    const secret = Buffer.alloc(32, 1);
    const symmetric = { kty: 'oct', k: secret.toString('base64url') };
    const proof = await new SignJWT({ htm: 'POST', htu: URL_, jti: 'x', iat: NOW / 1000 })
      .setProtectedHeader({ alg: 'HS256', typ: 'dpop+jwt', jwk: symmetric })
      .sign(secret);
    expect(await createProofs(() => NOW)(request(proof))).toMatchObject({ ok: false });
  });

  it('that another key signed', async () => {
    const other = await generateKeyPair('ES256');
    const [header, payload] = (await prove()).split('.');
    const [, , signature] = (await new SignJWT({}).setProtectedHeader({ alg: 'ES256' }).sign(other.privateKey)).split(
      '.',
    );
    expect(await createProofs(() => NOW)(request(`${header}.${payload}.${signature}`))).toMatchObject({ ok: false });
  });
});

describe('a proof of a key that the token is not bound to', () => {
  it.each([undefined, 'another key'])('is refused (%s)', async (boundTo) => {
    const verdict = await createProofs(() => NOW)({ ...request(await prove()), boundTo });
    expect(verdict).toEqual({ ok: false, reason: 'it is bound to another key, or to none' });
  });

  it('takes no room from the others', async () => {
    const check = createProofs(() => NOW, 2);
    for (let knock = 0; knock < 5; knock++) await check({ ...request(await prove()), boundTo: undefined });
    expect(await check(request(await prove()))).toEqual({ ok: true });
  });
});

it('a proof is good once, for as long as it could be good', async () => {
  let clock = NOW;
  const check = createProofs(() => clock);
  const proof = await prove({ iat: NOW / 1000 + 299 });
  expect(await check(request(proof))).toMatchObject({ ok: true });
  for (const minutes of [0, 1, 5, 9]) {
    clock = NOW + minutes * 60_000;
    expect(await check(request(proof))).toEqual({ ok: false, reason: 'the proof of its key was used before' });
    await check(request(await prove({ iat: clock / 1000 })));
  }
});
