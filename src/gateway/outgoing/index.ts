import type { CredentialPlan } from '../../plan/index.ts';
import type { Credential } from '../call.ts';

/** Boundary 2: the credential a backend gets for an identity. It builds headers from nothing and never sees the caller's own. */
export function createCredential(plan: CredentialPlan): Credential {
  switch (plan.kind) {
    case 'none':
      return none;
  }
}

const NO_HEADERS = Object.freeze({});

async function none(): Promise<Readonly<Record<string, string>>> {
  return NO_HEADERS;
}
