import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { bits, der, integer, octets, oid, sequence, set, time, utf8, yes } from './der.ts';

/** Who signs, as a certificate of Fulcio says it. */
export interface Signer {
  readonly subject: string;
  readonly issuer: string;
  readonly repositoryUri?: string;
  readonly repositoryRef?: string;
  readonly runnerEnvironment?: string;
}

export interface SigningOptions {
  /** When the certificate was given out; it is good for ten minutes. */
  readonly issuedAt?: Date;
  /** When the log heard of the signature. */
  readonly loggedAt?: Date;
}

/** A layer as `cosign sign` makes it: what is signed, and the signature in annotations. */
export interface CosignLayer {
  readonly payload: Buffer;
  readonly annotations: Record<string, string>;
}

/** A small sigstore: an authority, a log of its certificates and a log of signatures. Its signatures count where its trust root does. */
export interface Sigstore {
  /** The text of a `trusted_root.json`. */
  readonly trustedRoot: string;
  cosign(digest: string, signer: Signer, options?: SigningOptions): CosignLayer;
  /** A bundle with an in-toto statement. */
  attest(
    digest: string,
    signer: Signer,
    statement?: { readonly predicateType?: string; readonly predicate?: unknown },
    options?: SigningOptions,
  ): Record<string, unknown>;
}

export const BUNDLE_TYPE = 'application/vnd.dev.sigstore.bundle.v0.3+json';
const LOG_NAME = 'rekor.example.test';
const ECDSA_SHA256 = sequence(oid('1.2.840.10045.4.3.2'));
const AUTHORITY = sequence(set(sequence(oid('2.5.4.3'), utf8('Fulcio of the tests'))));
const NOBODY = sequence();
const LONG_AGO = new Date('2020-01-01T00:00:00Z');
const SCT_LIST = '1.3.6.1.4.1.11129.2.4.2';

interface Key {
  readonly own: KeyObject;
  readonly spki: Buffer;
  readonly id: Buffer;
}

export function createSigstore(): Sigstore {
  const [authority, certificateLog, signatureLog] = [newKey(), newKey(), newKey()];
  const root = certificate(authority, AUTHORITY, authority.spki, LONG_AGO, new Date('2040-01-01T00:00:00Z'), [
    extension('2.5.29.19', sequence(yes)),
  ]);

  /** RFC 6962 §3.2: the log signs the certificate as it is without its own word in it. */
  function issue(holder: Key, signer: Signer, from: Date): Buffer {
    const until = new Date(from.getTime() + 600_000);
    const name = signer.subject.includes('://') ? 0x86 : 0x81;
    const fulcio = {
      8: signer.issuer,
      11: signer.runnerEnvironment,
      12: signer.repositoryUri,
      14: signer.repositoryRef,
    };
    const extensions = [
      extension('2.5.29.17', sequence(der(name, Buffer.from(signer.subject)))),
      ...Object.entries(fulcio).flatMap(([number, text]) =>
        text === undefined ? [] : [extension(`1.3.6.1.4.1.57264.1.${number}`, utf8(text))],
      ),
    ];
    const draft = toBeSigned(AUTHORITY, NOBODY, holder.spki, from, until, extensions);
    const head = Buffer.alloc(10);
    head.writeBigUInt64BE(BigInt(from.getTime()), 2);
    const size = Buffer.alloc(3);
    size.writeUIntBE(draft.length, 0, 3);
    const precertificate = Buffer.concat([head, Buffer.from([0, 1]), authority.id, size, draft, Buffer.alloc(2)]);
    const signature = sign('sha256', precertificate, certificateLog.own);
    const promise = Buffer.concat([
      Buffer.from([0]),
      certificateLog.id,
      head.subarray(2),
      Buffer.from([0, 0, 4, 3]),
      prefixed(signature),
    ]);
    const logged = [...extensions, extension(SCT_LIST, octets(prefixed(prefixed(promise))))];
    return certificate(authority, NOBODY, holder.spki, from, until, logged);
  }

  /** What Rekor answers: the entry, its promise to keep it, and the proof that it does, in a log with one entry. */
  function log(body: unknown, at: Date) {
    const text = Buffer.from(JSON.stringify(body));
    const integratedTime = Math.floor(at.getTime() / 1_000);
    const payload = {
      body: text.toString('base64'),
      integratedTime,
      logID: signatureLog.id.toString('hex'),
      logIndex: 7,
    };
    const promise = sign('sha256', Buffer.from(JSON.stringify(payload)), signatureLog.own).toString('base64');
    const hash = sha256(Buffer.from([0]), text);
    const note = `${LOG_NAME} - 1\n1\n${hash.toString('base64')}\n`;
    const signed = Buffer.concat([signatureLog.id.subarray(0, 4), sign('sha256', Buffer.from(note), signatureLog.own)]);
    const checkpoint = `${note}\n\u2014 ${LOG_NAME} ${signed.toString('base64')}\n`;
    return { payload, promise, hash, checkpoint };
  }

  function signed(text: Buffer, signer: Signer, { issuedAt = new Date() }: SigningOptions) {
    const holder = newKey();
    return { leaf: issue(holder, signer, issuedAt), signature: sign('sha256', text, holder.own).toString('base64') };
  }

  return {
    trustedRoot: JSON.stringify({
      mediaType: 'application/vnd.dev.sigstore.trustedroot+json;version=0.1',
      tlogs: [logOf(signatureLog, `https://${LOG_NAME}`)],
      ctlogs: [logOf(certificateLog, 'https://ctfe.example.test')],
      certificateAuthorities: [
        {
          subject: { organization: 'tests', commonName: 'Fulcio of the tests' },
          uri: 'https://fulcio.example.test',
          certChain: { certificates: [{ rawBytes: root.toString('base64') }] },
          validFor: { start: LONG_AGO.toISOString() },
        },
      ],
      timestampAuthorities: [],
    }),

    cosign(digest, signer, options = {}) {
      const payload = Buffer.from(
        JSON.stringify({
          critical: {
            identity: { 'docker-reference': '' },
            image: { 'docker-manifest-digest': digest },
            type: 'cosign container image signature',
          },
          optional: null,
        }),
      );
      const { leaf, signature } = signed(payload, signer, options);
      const hash = { algorithm: 'sha256', value: sha256(payload).toString('hex') };
      const spec = { data: { hash }, signature: { content: signature, publicKey: { content: base64(pem(leaf)) } } };
      const entry = log({ apiVersion: '0.0.1', kind: 'hashedrekord', spec }, options.loggedAt ?? new Date());
      return {
        payload,
        annotations: {
          'dev.cosignproject.cosign/signature': signature,
          'dev.sigstore.cosign/certificate': pem(leaf),
          'dev.sigstore.cosign/chain': pem(root),
          'dev.sigstore.cosign/bundle': JSON.stringify({
            SignedEntryTimestamp: entry.promise,
            Payload: entry.payload,
          }),
        },
      };
    },

    attest(digest, signer, statement = {}, options = {}) {
      const payload = Buffer.from(
        JSON.stringify({
          _type: 'https://in-toto.io/Statement/v1',
          subject: [{ name: 'image', digest: { sha256: digest.replace('sha256:', '') } }],
          predicateType: statement.predicateType ?? 'https://sigstore.dev/cosign/sign/v1',
          predicate: statement.predicate ?? {},
        }),
      );
      const payloadType = 'application/vnd.in-toto+json';
      // The pre-authentication encoding of DSSE.
      const text = Buffer.from(`DSSEv1 ${payloadType.length} ${payloadType} ${payload.length} ${payload}`);
      const { leaf, signature } = signed(text, signer, options);
      const spec = {
        envelopeHash: { algorithm: 'sha256', value: sha256(text).toString('hex') },
        payloadHash: { algorithm: 'sha256', value: sha256(payload).toString('hex') },
        signatures: [{ signature, verifier: base64(pem(leaf)) }],
      };
      const entry = log({ apiVersion: '0.0.1', kind: 'dsse', spec }, options.loggedAt ?? new Date());
      return {
        mediaType: BUNDLE_TYPE,
        verificationMaterial: {
          certificate: { rawBytes: leaf.toString('base64') },
          tlogEntries: [
            {
              logIndex: '7',
              logId: { keyId: signatureLog.id.toString('base64') },
              kindVersion: { kind: 'dsse', version: '0.0.1' },
              integratedTime: String(entry.payload.integratedTime),
              inclusionPromise: { signedEntryTimestamp: entry.promise },
              inclusionProof: {
                logIndex: '0',
                treeSize: '1',
                rootHash: entry.hash.toString('base64'),
                hashes: [],
                checkpoint: { envelope: entry.checkpoint },
              },
              canonicalizedBody: entry.payload.body,
            },
          ],
        },
        dsseEnvelope: { payload: payload.toString('base64'), payloadType, signatures: [{ sig: signature }] },
      };
    },
  };
}

function newKey(): Key {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const spki = publicKey.export({ format: 'der', type: 'spki' });
  return { own: privateKey, spki, id: sha256(spki) };
}

function certificate(
  by: Key,
  subject: Buffer,
  spki: Buffer,
  from: Date,
  until: Date,
  extensions: readonly Buffer[],
): Buffer {
  const text = toBeSigned(AUTHORITY, subject, spki, from, until, extensions);
  return sequence(text, ECDSA_SHA256, bits(sign('sha256', text, by.own)));
}

/** The serial number is part of what a log signs before the certificate is done, so it must be the same both times. */
function toBeSigned(
  issuer: Buffer,
  subject: Buffer,
  spki: Buffer,
  from: Date,
  until: Date,
  extensions: readonly Buffer[],
): Buffer {
  const version = der(0xa0, der(0x02, Buffer.from([2])));
  const serial = integer(sha256(spki).subarray(0, 16));
  const validity = sequence(time(from), time(until));
  return sequence(version, serial, ECDSA_SHA256, issuer, validity, subject, spki, der(0xa3, sequence(...extensions)));
}

function extension(id: string, value: Buffer): Buffer {
  return sequence(oid(id), octets(value));
}

function logOf({ spki, id }: Key, baseUrl: string): unknown {
  const validFor = { start: LONG_AGO.toISOString() };
  const publicKey = { rawBytes: spki.toString('base64'), keyDetails: 'PKIX_ECDSA_P256_SHA_256', validFor };
  return { baseUrl, hashAlgorithm: 'SHA2_256', publicKey, logId: { keyId: id.toString('base64') } };
}

/** Two bytes with the length in front. */
function prefixed(bytes: Buffer): Buffer {
  const size = Buffer.alloc(2);
  size.writeUInt16BE(bytes.length);
  return Buffer.concat([size, bytes]);
}

function pem(certificate: Buffer): string {
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

function sha256(...parts: readonly Buffer[]): Buffer {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
}

/** A digest that belongs to no image. */
export function anyDigest(): string {
  return `sha256:${randomBytes(32).toString('hex')}`;
}
