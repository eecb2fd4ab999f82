import { createPrivateKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import {
  calculateJwkThumbprint,
  createLocalJWKSet,
  exportJWK,
  generateKeyPair,
  type JWK,
  type JWTVerifyGetKey,
} from 'jose';

/** A private key that signs tokens with one algorithm, known to everybody by its RFC 7638 thumbprint. */
export interface SigningKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateJwk: JWK;
  readonly publicJwk: JWK;
}

/** Why a text is not a signing key. The message never repeats any of the text. */
export class SigningKeyError extends Error {}

const LEAST_RSA_BITS = 2048;
const RSA_ALGORITHMS = ['RS256', 'PS256'];
const CURVES: Readonly<Record<string, string>> = { 'P-256': 'ES256', 'P-384': 'ES384', 'P-521': 'ES512' };

/** Reads PEM (PKCS#1, SEC1, PKCS#8) or the JSON of a JWK. */
export async function parseSigningKey(text: string): Promise<SigningKey> {
  const trimmed = text.trim();
  const given = trimmed.startsWith('{') ? parseJwk(trimmed) : undefined;
  const { alg } = (given ?? {}) as { readonly alg?: unknown };
  return await describe(importKey(given ?? trimmed), typeof alg === 'string' ? alg : undefined);
}

export async function generateSigningKey(): Promise<SigningKey> {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true });
  return await fromJwk(await exportJWK(privateKey), 'ES256');
}

/** How a verifier finds the key of a token, for `jwtVerify`. */
export function keyLookup(keys: readonly SigningKey[]): JWTVerifyGetKey {
  return createLocalJWKSet({ keys: keys.map(({ publicJwk }) => publicJwk) });
}

function parseJwk(text: string): JsonWebKey {
  try {
    return JSON.parse(text) as JsonWebKey;
  } catch {
    // The parser's own message quotes the text, which is a secret.
    throw new SigningKeyError('it starts like a JWK, but is not JSON');
  }
}

function importKey(given: JsonWebKey | string): KeyObject {
  if (typeof given !== 'string' && given.kty === 'oct') {
    throw new SigningKeyError('it is a symmetric key; tokens are signed with RSA, EC or Ed25519 keys');
  }
  try {
    return typeof given === 'string' ? createPrivateKey(given) : createPrivateKey({ key: given, format: 'jwk' });
  } catch {
    throw new SigningKeyError(reasonOf(given));
  }
}

function reasonOf(given: JsonWebKey | string): string {
  if (typeof given !== 'string') return 'the JWK is not a complete private key';
  if (given.includes('ENCRYPTED')) return 'it is encrypted with a passphrase; store it unencrypted';
  if (given.includes('BEGIN PUBLIC KEY') || given.includes('BEGIN CERTIFICATE'))
    return 'it is public; a private key signs';
  return 'it is no private key in PEM (PKCS#1, SEC1, PKCS#8) or JWK form';
}

async function describe(key: KeyObject, wanted: string | undefined): Promise<SigningKey> {
  const alg = wanted ?? defaultAlgorithm(key);
  if (!algorithmsOf(key).includes(alg)) {
    throw new SigningKeyError(`the JWK says alg ${JSON.stringify(alg.slice(0, 20))}, which does not fit its key type`);
  }
  return await fromJwk(await exportJWK(key), alg);
}

function defaultAlgorithm(key: KeyObject): string {
  const [alg] = algorithmsOf(key);
  if (alg === undefined) {
    throw new SigningKeyError(
      `keys of type ${key.asymmetricKeyType} cannot sign tokens; use RSA, P-256/384/521 or Ed25519`,
    );
  }
  return alg;
}

function algorithmsOf(key: KeyObject): readonly string[] {
  switch (key.asymmetricKeyType) {
    case 'rsa': {
      const bits = key.asymmetricKeyDetails?.modulusLength ?? 0;
      if (bits >= LEAST_RSA_BITS) return RSA_ALGORITHMS;
      throw new SigningKeyError(`its RSA modulus has ${bits} bits, fewer than ${LEAST_RSA_BITS}`);
    }
    case 'ec': {
      const alg = CURVES[key.export({ format: 'jwk' }).crv ?? ''];
      return alg === undefined ? [] : [alg];
    }
    case 'ed25519':
      return ['EdDSA'];
    default:
      return [];
  }
}

async function fromJwk(jwk: JWK, alg: string): Promise<SigningKey> {
  const { kty, crv, x, y, n, e } = jwk;
  const parts = Object.entries({ kty, crv, x, y, n, e }).filter(([, value]) => value !== undefined);
  const kid = await calculateJwkThumbprint(jwk);
  const marks = { kid, alg, use: 'sig' };
  return { kid, alg, privateJwk: { ...jwk, ...marks }, publicJwk: { ...(Object.fromEntries(parts) as JWK), ...marks } };
}
