import type { CredentialPlan } from './plan.ts';

/** Whether a credential differs from user to user. A server that gets such a credential is another one for each of them. */
export function isPersonal({ kind }: CredentialPlan): boolean {
  switch (kind) {
    case 'none':
    case 'header':
    case 'bearer':
      return false;
    case 'upstream-inject':
    case 'token-exchange':
      return true;
  }
}
