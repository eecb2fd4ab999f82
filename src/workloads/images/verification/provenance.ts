import { isDeepStrictEqual } from 'node:util';
import type { Provenance } from '../../registry/entry.ts';
import type { Claims } from './claims.ts';

/** What a signature that was found good says: who made it, and what is stated about the image, if anything is. */
export interface Proven {
  readonly claims: Claims;
  readonly statement?: { readonly predicateType: string; readonly predicate: unknown };
}

const GITHUB_ACTIONS = 'https://token.actions.githubusercontent.com';

/**
 * Whether a registry entry says enough to tell one signer from all others. Anybody can have a good signature: an entry that names
 * only an issuer, or a path that every repository may have, proves nothing.
 */
export function namesSigner({ repository_uri, signer_identity, cert_issuer }: Provenance): boolean {
  if (repository_uri) return true;
  return Boolean(signer_identity && !signer_identity.startsWith('/') && cert_issuer);
}

/** Why a signature is not the one that the registry entry asks for; nothing when it is. Every field that is given must match. */
export function whyOther(wanted: Provenance, { claims, statement }: Proven): string | undefined {
  const { attestation } = wanted;
  if (wanted.cert_issuer && wanted.cert_issuer !== claims.issuer)
    return differs('who vouches for the signer', wanted.cert_issuer, claims.issuer);
  if (wanted.signer_identity && !isSigner(wanted.signer_identity, claims))
    return differs('the signer', wanted.signer_identity, claims.subject);
  if (wanted.repository_uri && wanted.repository_uri !== claims.repositoryUri)
    return differs('the repository', wanted.repository_uri, claims.repositoryUri);
  if (wanted.repository_ref && wanted.repository_ref !== claims.repositoryRef)
    return differs('the ref of the repository', wanted.repository_ref, claims.repositoryRef);
  if (wanted.runner_environment && wanted.runner_environment !== claims.runnerEnvironment)
    return differs('the runner', wanted.runner_environment, claims.runnerEnvironment);
  if (attestation?.predicate_type && attestation.predicate_type !== statement?.predicateType)
    return differs('the attestation', attestation.predicate_type, statement?.predicateType);
  if (attestation?.predicate !== undefined && !isDeepStrictEqual(attestation.predicate, statement?.predicate))
    return 'the attestation says something else than the registry expects';
  return undefined;
}

/** Workflows of GitHub sign as `REPOSITORY/PATH@REF`; entries name all of it, leave out the ref, or give the path alone. */
function isSigner(wanted: string, { subject, issuer, repositoryUri }: Claims): boolean {
  if (subject === undefined) return false;
  if (wanted === subject) return true;
  if (issuer !== GITHUB_ACTIONS) return false;
  const [workflow = ''] = subject.split('@');
  if (wanted === workflow) return true;
  // The slash matters: `…/notes-evil/release.yml` also begins like `…/notes`.
  return wanted.startsWith('/') && repositoryUri !== undefined && workflow === `${repositoryUri}${wanted}`;
}

function differs(what: string, wanted: string, found: string | undefined): string {
  return `${what} is ${found ?? 'not said'}, and must be ${wanted}`;
}
