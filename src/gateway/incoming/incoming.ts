import type { IncomingMessage } from 'node:http';
import { type Log, SallyError } from '../../base/index.ts';
import type { IncomingPlan, ProtectedPlan } from '../../plan/index.ts';
import type { Identity } from '../call.ts';
import { anonymous } from './anonymous.ts';
import type { Checkers } from './checkers.ts';
import { createEmbeddedChecker, type OwnTokens } from './embedded.ts';
import { createProtected } from './protected.ts';

/** At once for a caller we know, so that the hot path waits for nothing. Throws or rejects for one that may not. */
export type Identify = (request: IncomingMessage) => Identity | Promise<Identity>;

export interface Boundary {
  readonly identify: Identify;
  /** Who issues the tokens that are asked for; nobody where none are. */
  readonly issuer?: () => string | Promise<string>;
  release(): Promise<void>;
}

export interface IncomingParts {
  /** The name of the endpoint, for the log. */
  readonly endpoint: string;
  readonly checkers: Checkers;
  /** Of the authorization server in this process, where there is one. */
  readonly ownTokens?: OwnTokens;
  /** The URLs that a client may know this request by. */
  readonly urlsOf: (request: IncomingMessage) => readonly string[];
  readonly log: Log;
  readonly now: () => number;
}

export function createIncoming(plan: IncomingPlan, parts: IncomingParts): Boundary {
  if (plan.kind === 'anonymous') return { identify: anonymous, release: async () => {} };
  const { checker, release } = checkerFor(plan, parts);
  const isLive = plan.kind === 'embedded' && parts.ownTokens;
  const identify = createProtected(plan, {
    ...parts,
    checker,
    checkProof: parts.checkers.checkProof,
    ...(isLive ? { isLive: (grant) => isLive.isLive(grant) } : {}),
  });
  return { identify, issuer: checker.issuer, release };
}

function checkerFor(plan: ProtectedPlan, { checkers, ownTokens, now }: IncomingParts) {
  switch (plan.kind) {
    case 'oidc':
    case 'kubernetes':
      return checkers.lease(plan);
    case 'embedded': {
      if (!ownTokens) throw new SallyError('internal.bug', 'there is no authorization server for its own tokens');
      const checker = createEmbeddedChecker(plan, ownTokens, now);
      return { checker, release: () => checker.close() };
    }
  }
}
