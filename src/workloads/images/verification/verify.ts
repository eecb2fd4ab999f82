import { toSignedEntity, type Verifier } from '@sigstore/verify';
import { printable, SallyError } from '../../../base/index.ts';
import type { Environment } from '../../launch.ts';
import type { Provenance } from '../../registry/entry.ts';
import { openRepository } from '../distribution/client.ts';
import type { ImageName } from '../distribution/image-name.ts';
import { claimsOf } from './claims.ts';
import { type Evidence, evidenceFor } from './evidence.ts';
import { type Proven, whyOther } from './provenance.ts';
import { openVerifiers } from './trust-roots.ts';

/** Whether an image is what its registry entry promises: by whom it is signed, or why that is not known. */
export type Verdict =
  | { readonly ok: true; readonly digest: string; readonly signer: string }
  | { readonly ok: false; readonly reason: string; readonly hint?: string };

const LONGEST_REASON = 400;

/** Looks for one good signature of this digest by the signer that the entry names. Never throws: what cannot be known is not verified. */
export async function verifyImage(
  name: ImageName,
  digest: string,
  provenance: Provenance,
  env: Environment,
): Promise<Verdict> {
  try {
    const verifiers = await openVerifiers(provenance.sigstore_url, env);
    await using repository = openRepository(name, env);
    const reasons = new Set<string>();
    for await (const finding of evidenceFor(digest, repository)) {
      const proven = 'unusable' in finding ? finding.unusable : prove(finding, verifiers);
      const reason = typeof proven === 'string' ? proven : whyOther(provenance, proven);
      if (typeof proven !== 'string' && reason === undefined) return { ok: true, digest, signer: signerOf(proven) };
      if (reason !== undefined) reasons.add(reason);
    }
    if (reasons.size === 0) return no('it is not signed');
    return no(`none of its signatures is the right one: ${[...reasons].join('; ')}`);
  } catch (error) {
    if (error instanceof SallyError) return { ...no(error.message), ...(error.hint ? { hint: error.hint } : {}) };
    return no(error instanceof Error ? error.message : 'its signatures cannot be read');
  }
}

/** What a signature proves, or why it proves nothing. */
function prove({ bundle, artifact, statement }: Evidence, verifiers: readonly Verifier[]): Proven | string {
  let reason = 'it cannot be checked';
  for (const verifier of verifiers) {
    try {
      const claims = claimsOf(verifier.verify(toSignedEntity(bundle, artifact)));
      return { claims, ...(statement ? { statement } : {}) };
    } catch (error) {
      reason = error instanceof Error ? error.message : reason;
    }
  }
  return reason;
}

function signerOf({ claims }: Proven): string {
  return printable(claims.subject ?? claims.repositoryUri ?? 'the signer that its entry names', LONGEST_REASON);
}

/** Parts of it were written by whoever signed. */
function no(reason: string): { readonly ok: false; readonly reason: string } {
  return { ok: false, reason: printable(reason, LONGEST_REASON) };
}
