import { createHash, X509Certificate } from 'node:crypto';
import { type Bundle, bundleFromJSON } from '@sigstore/bundle';
import type { Descriptor } from '../distribution/client.ts';
import { fieldsOf, parseJson } from '../distribution/read-manifest.ts';

/** The media type of what cosign signs: a short text that names the digest of an image. */
export const SIMPLE_SIGNING = 'application/vnd.dev.cosign.simplesigning.v1+json';

const SIGNATURE = 'dev.cosignproject.cosign/signature';
const CERTIFICATE = 'dev.sigstore.cosign/certificate';
const REKOR = 'dev.sigstore.cosign/bundle';
const TIMESTAMP = 'dev.sigstore.cosign/rfc3161timestamp';

/**
 * A signature as cosign keeps it, in annotations of a layer, in the form of a sigstore bundle. Throws when it is none, and when it was
 * made with a bare key: a key says nothing about who holds it. The chain is not read, the trust root has it.
 */
export function bundleOfLayer({ annotations }: Descriptor, payload: Buffer): Bundle {
  const signature = annotations[SIGNATURE];
  const certificate = annotations[CERTIFICATE];
  if (signature === undefined) throw new Error('it carries no signature');
  if (certificate === undefined) throw new Error('it was signed with a key, which no registry entry can name');
  const timestamp = fieldsOf(parseJson(annotations[TIMESTAMP] ?? '')).SignedRFC3161Timestamp;
  return bundleFromJSON({
    mediaType: 'application/vnd.dev.sigstore.bundle+json;version=0.1',
    verificationMaterial: {
      x509CertificateChain: { certificates: [{ rawBytes: new X509Certificate(certificate).raw.toString('base64') }] },
      tlogEntries: annotations[REKOR] === undefined ? [] : [logEntry(annotations[REKOR])],
      ...(typeof timestamp === 'string'
        ? { timestampVerificationData: { rfc3161Timestamps: [{ signedTimestamp: timestamp }] } }
        : {}),
    },
    messageSignature: {
      messageDigest: { algorithm: 'SHA2_256', digest: createHash('sha256').update(payload).digest('base64') },
      signature,
    },
  });
}

/** Which image a payload of cosign is about. */
export function signedDigest(payload: Buffer): string | undefined {
  const { critical } = fieldsOf(parseJson(payload.toString()));
  const { type, image } = fieldsOf(critical);
  const { 'docker-manifest-digest': digest } = fieldsOf(image);
  return type === 'cosign container image signature' && typeof digest === 'string' ? digest : undefined;
}

/** What Rekor answered when the signature was written to its log. */
function logEntry(annotation: string): unknown {
  const { SignedEntryTimestamp: signedEntryTimestamp, Payload } = fieldsOf(parseJson(annotation));
  const { body, integratedTime, logIndex, logID } = fieldsOf(Payload);
  const { kind, apiVersion } = fieldsOf(parseJson(Buffer.from(String(body), 'base64').toString()));
  return {
    logIndex: String(logIndex),
    logId: { keyId: Buffer.from(String(logID), 'hex').toString('base64') },
    kindVersion: { kind, version: apiVersion },
    integratedTime: String(integratedTime),
    inclusionPromise: { signedEntryTimestamp },
    canonicalizedBody: body,
  };
}
