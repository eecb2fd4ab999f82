import { createProofs, type ProofOf, type ProofVerdict } from '../../oauth/index.ts';
import { type KubernetesPlan, keyOf, type OidcPlan } from '../../plan/index.ts';
import { type Checker, type CheckerParts, createOidcChecker } from './checker.ts';
import { type Cluster, createKubernetesChecker } from './kubernetes.ts';

export interface CheckerLease {
  readonly checker: Checker;
  release(): Promise<void>;
}

/**
 * The checkers of one process, by what they check. They outlive a reload: a change of something else while an issuer is down
 * must not cost us its last good keys, nor let a proof be used twice.
 */
export interface Checkers {
  lease(plan: OidcPlan | KubernetesPlan): CheckerLease;
  /** One memory for all: a proof is good once, wherever it is shown. */
  readonly checkProof: (request: ProofOf) => Promise<ProofVerdict>;
}

export function createCheckers(parts: CheckerParts & { readonly cluster?: Cluster }): Checkers {
  const open = new Map<string, { readonly checker: Checker; users: number }>();

  return {
    checkProof: createProofs(parts.now),
    lease(plan) {
      const key = keyOf(plan);
      const entry = open.get(key) ?? { checker: create(plan, parts), users: 0 };
      open.set(key, entry);
      entry.users += 1;
      let released = false;
      return {
        checker: entry.checker,
        async release() {
          if (released) return;
          released = true;
          entry.users -= 1;
          if (entry.users > 0) return;
          open.delete(key);
          await entry.checker.close();
        },
      };
    },
  };
}

function create(plan: OidcPlan | KubernetesPlan, parts: CheckerParts & { readonly cluster?: Cluster }): Checker {
  switch (plan.kind) {
    case 'oidc':
      return createOidcChecker(plan, parts);
    case 'kubernetes':
      return createKubernetesChecker(plan, parts, parts.cluster);
  }
}
