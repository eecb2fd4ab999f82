import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { calculateJwkThumbprint, importJWK, jwtVerify, SignJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { generateSigningKey, keyLookup, parseSigningKey } from './keys.ts';

const pem = (key: KeyObject, type: 'pkcs1' | 'pkcs8' | 'sec1') => key.export({ type, format: 'pem' }) as string;
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey;
const ed25519 = generateKeyPairSync('ed25519').privateKey;

describe('signing keys', () => {
  it.each([
    ['RSA in PKCS#1', pem(rsa, 'pkcs1'), 'RS256'],
    ['RSA in PKCS#8', pem(rsa, 'pkcs8'), 'RS256'],
    ['P-256 in SEC1', pem(ec('P-256'), 'sec1'), 'ES256'],
    ['P-384 in PKCS#8', pem(ec('P-384'), 'pkcs8'), 'ES384'],
    ['P-521 in PKCS#8', pem(ec('P-521'), 'pkcs8'), 'ES512'],
    ['Ed25519 in PKCS#8', pem(ed25519, 'pkcs8'), 'EdDSA'],
    ['RSA as a JWK', JSON.stringify(rsa.export({ format: 'jwk' })), 'RS256'],
    ['RSA as a JWK for PSS', JSON.stringify({ ...rsa.export({ format: 'jwk' }), alg: 'PS256' }), 'PS256'],
    ['P-256 as a JWK', JSON.stringify(ec('P-256').export({ format: 'jwk' })), 'ES256'],
  ])('%s', async (_name, text, alg) => {
    const key = await parseSigningKey(`\n${text}\n`);
    expect(key.alg).toBe(alg);
    expect(key.kid).toBe(await calculateJwkThumbprint(key.publicJwk));
    expect(key.publicJwk).toMatchObject({ alg, kid: key.kid, use: 'sig' });
    for (const secret of ['d', 'p', 'q', 'dp', 'dq', 'qi']) expect(key.publicJwk).not.toHaveProperty(secret);

    const token = await new SignJWT({ a: 1 })
      .setProtectedHeader({ alg, kid: key.kid })
      .sign(await importJWK(key.privateJwk, alg));
    const other = await generateSigningKey();
    expect((await jwtVerify(token, keyLookup([other, key]))).payload).toEqual({ a: 1 });
    await expect(jwtVerify(token, keyLookup([other]))).rejects.toMatchObject({ code: 'ERR_JWKS_NO_MATCHING_KEY' });
  });

  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const encrypted = ed25519.export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'x' }) as string;
  const publicKey = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }) as string;
  it.each([
    ['a short RSA key', pem(small, 'pkcs8'), /1024 bits, fewer than 2048/],
    ['an encrypted key', encrypted, /encrypted with a passphrase/],
    ['a public key', publicKey, /it is public/],
    ['a curve that no algorithm has', pem(ec('secp256k1'), 'pkcs8'), /type ec cannot sign tokens/],
    [
      'a key for agreeing on secrets',
      pem(generateKeyPairSync('x25519').privateKey, 'pkcs8'),
      /type x25519 cannot sign/,
    ],
    ['a shared secret', JSON.stringify({ kty: 'oct', k: 'c2VjcmV0' }), /symmetric/],
    ['a public JWK', JSON.stringify({ ...rsa.export({ format: 'jwk' }), d: undefined }), /not a complete private key/],
    [
      'an algorithm that does not fit',
      JSON.stringify({ ...ed25519.export({ format: 'jwk' }), alg: 'RS256' }),
      /does not fit/,
    ],
    ['no signature at all', JSON.stringify({ ...ed25519.export({ format: 'jwk' }), alg: 'none' }), /does not fit/],
    ['half a JWK', '{"kty":"EC","d":"very-secret', /not JSON/],
    ['some text', 'very-secret', /no private key/],
  ])('refuses %s without repeating it', async (_name, text, reason) => {
    const refusal = await parseSigningKey(text).then(
      () => undefined,
      (error: Error) => error,
    );
    expect(refusal?.message).toMatch(reason);
    expect(`${refusal?.message}${refusal?.cause}`).not.toContain('very-secret');
  });
});
