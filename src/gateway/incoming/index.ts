import type { IncomingMessage } from 'node:http';
import type { IncomingPlan } from '../../plan/index.ts';
import type { Identity } from '../call.ts';

export type Identify = (request: IncomingMessage) => Promise<Identity>;

/** Boundary 1: who is asking. It finds an identity or refuses; it never falls back to a lesser one. */
export function createIncoming(plan: IncomingPlan): Identify {
  switch (plan.kind) {
    case 'anonymous':
      return anonymous;
  }
}

const ANONYMOUS: Identity = Object.freeze({ kind: 'anonymous' });

async function anonymous(): Promise<Identity> {
  return ANONYMOUS;
}
