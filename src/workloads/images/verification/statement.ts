import type { Bundle } from '@sigstore/bundle';
import { fieldsOf } from '../distribution/read-manifest.ts';

/** What an attestation says, and about what. */
export interface Statement {
  readonly predicateType: string;
  readonly predicate: unknown;
}

const IN_TOTO = 'application/vnd.in-toto+json';

/** The in-toto statement in a bundle, when it is one about this digest. */
export function statementAbout(digest: string, { content }: Bundle): Statement | undefined {
  if (content.$case !== 'dsseEnvelope' || content.dsseEnvelope.payloadType !== IN_TOTO) return undefined;
  const { _type, subject, predicateType, predicate } = fieldsOf(JSON.parse(content.dsseEnvelope.payload.toString()));
  const isStatement = typeof _type === 'string' && _type.startsWith('https://in-toto.io/Statement/');
  if (!isStatement || typeof predicateType !== 'string' || !Array.isArray(subject)) return undefined;
  const isAbout = subject.some((one: unknown) => `sha256:${fieldsOf(fieldsOf(one).digest).sha256}` === digest);
  return isAbout ? { predicateType, predicate } : undefined;
}
