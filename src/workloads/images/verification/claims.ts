import type { Signer } from '@sigstore/verify';

/** What Fulcio wrote into the certificate of a signer, after it looked at his token. */
export interface Claims {
  /** A URL or an e-mail address. */
  readonly subject?: string;
  readonly issuer?: string;
  readonly repositoryUri?: string;
  readonly repositoryRef?: string;
  readonly runnerEnvironment?: string;
}

/** The numbers behind 1.3.6.1.4.1.57264.1, where Fulcio keeps its extensions. */
const FULCIO = '1.3.6.1.4.1.57264.1.';
const EXTENSIONS = { runnerEnvironment: 11, repositoryUri: 12, repositoryRef: 14 } as const;

export function claimsOf({ identity }: Signer): Claims {
  const { subjectAlternativeName: subject, extensions, oids = [] } = identity ?? {};
  const issuer = extensions?.issuer;
  const texts = Object.entries(EXTENSIONS).flatMap(([name, number]) => {
    const found = oids.find(({ oid }) => oid?.id.join('.') === `${FULCIO}${number}`);
    const text = found && utf8String(found.value);
    return text === undefined ? [] : [[name, text] as const];
  });
  return {
    ...(subject === undefined ? {} : { subject }),
    ...(issuer === undefined ? {} : { issuer }),
    ...Object.fromEntries(texts),
  };
}

/** A DER UTF8String and nothing behind it (X.690 §8.1.3): lengths up to 127 are one byte, longer ones two or three. */
function utf8String(der: Buffer): string | undefined {
  const [tag, first] = der;
  if (tag !== 0x0c || first === undefined) return undefined;
  const more = first < 0x80 ? 0 : first & 0x7f;
  if (more > 2 || der.length < 2 + more) return undefined;
  const length = more === 0 ? first : der.readUIntBE(2, more);
  return der.length === 2 + more + length ? der.toString('utf8', 2 + more) : undefined;
}
