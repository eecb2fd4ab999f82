import type { JWTVerifyGetKey, ProtectedHeaderParameters } from 'jose';
import { codeOf, SallyError } from '../base/index.ts';
import { verdictFrom } from './claims.ts';
import { loadJose } from './jose.ts';
import { unavailable } from './unavailable.ts';
import { type RefusalReason, refused, type Verdict } from './verdict.ts';

/** Finds the key that a token says it is signed with. */
export type KeyLookup = JWTVerifyGetKey;

/** Signatures that only the holder of a private key can make. `none` and shared secrets are not among them. */
export const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** Clocks of two machines differ; this many milliseconds are forgiven. */
export const LEEWAY = 60_000;

export interface JwtRules {
  readonly issuer: string;
  readonly audience: string;
  readonly keys: KeyLookup;
  /** RFC 9068 §2.1: our own access tokens say that they are some; many issuers do not. */
  readonly types: 'access-token' | 'any-jwt';
  readonly now: () => number;
}

/** The header of something that has the shape of a signed JWT, or `undefined` for everything else. */
export function jwtHeader(token: string): ProtectedHeaderParameters | undefined {
  if (!/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined;
  return objectIn(token.split('.')[0]); // three parts, but the first is no header: opaque to us
}

/** Who a token says it comes from. Unproven: only for a token that is our own. */
export function claimedIssuer(token: string): string | undefined {
  const issuer = jwtHeader(token) && objectIn(token.split('.')[1])?.iss;
  return typeof issuer === 'string' ? issuer : undefined; // what is no JWT says nothing
}

/** By hand, to look at a token at once: the library is loaded with the first one that has to be verified, and reads it again. */
function objectIn(part = ''): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

/** Is this JWT a good access token? Throws when that cannot be found out, since the keys are out of reach. */
export async function verifyJwt(token: string, { issuer, audience, keys, types, now }: JwtRules): Promise<Verdict> {
  const header = jwtHeader(token);
  if (!header) return refused('it is malformed');
  if (!isAccessToken(header.typ, types)) return refused('its type is not that of an access token');
  const { jwtVerify } = await loadJose();
  try {
    const { payload } = await jwtVerify(token, keys, {
      algorithms: [...ALGORITHMS],
      issuer,
      audience,
      clockTolerance: LEEWAY / 1000,
      currentDate: new Date(now()),
      // RFC 9068 §2.2 makes exp required: a token without one is refused, not treated as everlasting.
      requiredClaims: ['exp'],
    });
    return verdictFrom(issuer, payload, (payload.exp as number) * 1000);
  } catch (error) {
    const reason = reasonOf(error);
    if (reason) return refused(reason);
    if (error instanceof SallyError) throw error;
    throw unavailable('the key of the issuer is of no use', error);
  }
}

function isAccessToken(typ: unknown, types: JwtRules['types']): boolean {
  if (typ === undefined) return types === 'any-jwt';
  if (typeof typ !== 'string') return false;
  const short = typ.toLowerCase().replace(/^application\//, '');
  return short === 'at+jwt' || (types === 'any-jwt' && short === 'jwt');
}

/** Why a token is refused, by the words of the library; `undefined` when the token is not to blame. */
function reasonOf(error: unknown): RefusalReason | undefined {
  switch (codeOf(error)) {
    case 'ERR_JWT_EXPIRED':
      return 'it is expired';
    case 'ERR_JWT_CLAIM_VALIDATION_FAILED':
      return reasonOfClaim((error as { claim?: unknown }).claim, (error as { reason?: unknown }).reason);
    case 'ERR_JOSE_ALG_NOT_ALLOWED':
      return 'its signature algorithm is not allowed';
    case 'ERR_JWS_SIGNATURE_VERIFICATION_FAILED':
      return 'its signature is wrong';
    case 'ERR_JWKS_NO_MATCHING_KEY':
    case 'ERR_JWKS_MULTIPLE_MATCHING_KEYS':
      return 'it was signed with a key that the issuer does not publish';
    case 'ERR_JWT_INVALID':
    case 'ERR_JWS_INVALID':
    case 'ERR_JOSE_NOT_SUPPORTED':
      return 'it is malformed';
    default:
      return undefined;
  }
}

function reasonOfClaim(claim: unknown, reason: unknown): RefusalReason {
  switch (claim) {
    case 'iss':
      return 'it comes from another issuer';
    case 'aud':
      return reason === 'missing'
        ? 'it does not say which audience it is meant for'
        : 'it is meant for another audience';
    case 'exp':
      return reason === 'missing' ? 'it never expires' : 'it is malformed';
    case 'nbf':
      return reason === 'check_failed' ? 'it is not valid yet' : 'it is malformed';
    default:
      return 'it is malformed';
  }
}
