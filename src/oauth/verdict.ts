/** What was found out about a token. The reason is for our log, never for the wire: it would teach how to forge. */
export type Verdict =
  | { readonly ok: true; readonly token: VerifiedToken }
  | { readonly ok: false; readonly reason: RefusalReason };

export interface VerifiedToken {
  readonly issuer: string;
  readonly subject: string;
  readonly clientId?: string;
  readonly scopes: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  /** RFC 9449 §6: the thumbprint of the one key whose owner may use the token. */
  readonly boundTo?: string;
}

/** A closed list: a log that anybody can write to must not grow with what he sends. */
export type RefusalReason =
  | 'it is malformed'
  | 'its type is not that of an access token'
  | 'its signature algorithm is not allowed'
  | 'its signature is wrong'
  | 'it was signed with a key that the issuer does not publish'
  | 'it comes from another issuer'
  | 'it is meant for another audience'
  | 'it does not say which audience it is meant for'
  | 'it is expired'
  | 'it is not valid yet'
  | 'it never expires'
  | 'it names no user'
  | 'it is bound to its client in a way that is not known here'
  | 'it is opaque, and no introspection is configured'
  | 'the issuer says that it is not active'
  | 'its login has ended'
  | 'it is bound to a key and came without a proof'
  | 'it is bound to another key, or to none'
  | 'the proof of its key is wrong'
  | 'the proof of its key was used before';

export function refused(reason: RefusalReason): Verdict {
  return { ok: false, reason };
}
