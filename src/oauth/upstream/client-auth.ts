import { createPrivateKey, type KeyObject } from 'node:crypto';
import type { JWK } from 'jose';
import {
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  type CryptoKey,
  modifyAssertion,
  None,
  PrivateKeyJwt,
} from 'oauth4webapi';
import { SallyError, type Secret } from '../../base/index.ts';
import type { Metadata } from './metadata.ts';
import type { ClientAuthSettings } from './types.ts';

/** How we prove to a provider, wherever it turns out to be, that we are its client. */
export function createClientAuth(provider: string, settings: ClientAuthSettings): (at: Metadata) => ClientAuth {
  switch (settings.kind) {
    case 'none':
      return () => None();
    case 'client_secret_basic':
      return () => ClientSecretBasic(settings.secret.reveal());
    case 'client_secret_post':
      return () => ClientSecretPost(settings.secret.reveal());
    case 'secret':
      return (at) => (takesBasic(at) ? ClientSecretBasic : ClientSecretPost)(settings.secret.reveal());
    case 'private_key_jwt': {
      const key = readClientKey(provider, settings.key);
      return ({ source }) =>
        PrivateKeyJwt(key, {
          // RFC 7523 §3 lets the audience be the token endpoint, which is all we know of a provider without discovery.
          [modifyAssertion]: (_header, payload) => {
            if (source.issuer === undefined) payload.aud = source.tokenEndpoint;
          },
        });
    }
  }
}

/** OpenID Connect Discovery §3: who does not say takes basic. Plain OAuth 2 providers take the secret in the form, many only there. */
function takesBasic({ server, source }: Metadata): boolean {
  const methods = server.token_endpoint_auth_methods_supported;
  if (!Array.isArray(methods)) return source.issuer !== undefined;
  return methods.includes('client_secret_basic') || !methods.includes('client_secret_post');
}

interface ClientKey {
  readonly key: CryptoKey;
  /** A key without an id is sent without one: the provider was given it without one, and would look for another key. */
  readonly kid?: string;
}

function readClientKey(provider: string, text: Secret): ClientKey {
  try {
    const value = text.reveal().trim();
    const jwk = value.startsWith('{') ? (JSON.parse(value) as JWK) : undefined;
    const key = jwk ? createPrivateKey({ key: jwk as never, format: 'jwk' }) : createPrivateKey(value);
    const signing = key.toCryptoKey(algorithmOf(key, jwk), false, ['sign']);
    return { key: signing, ...(jwk?.kid === undefined ? {} : { kid: jwk.kid }) };
  } catch {
    // Without the cause: the words of a parser quote the text, which is a secret.
    throw new SallyError('config.invalid', `the private key for provider ${provider} cannot be read`, {
      hint: 'give an unencrypted PEM or a JWK of an RSA, EC (P-256, P-384, P-521) or Ed25519 key',
    });
  }
}

function algorithmOf(key: KeyObject, jwk: JWK | undefined) {
  switch (key.asymmetricKeyType) {
    case 'rsa':
      return { name: jwk?.alg?.startsWith('PS') ? 'RSA-PSS' : 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' };
    case 'ec':
      return { name: 'ECDSA', namedCurve: CURVES[key.asymmetricKeyDetails?.namedCurve ?? ''] ?? '' };
    default:
      return { name: 'Ed25519' };
  }
}

/** Names of OpenSSL and names of JOSE. */
const CURVES: Readonly<Record<string, string>> = { prime256v1: 'P-256', secp384r1: 'P-384', secp521r1: 'P-521' };
