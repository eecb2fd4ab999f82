import { Secret } from '../../base/index.ts';
import { createExchange, createFetch } from '../../oauth/index.ts';
import type { CredentialPlan } from '../../plan/index.ts';
import type { Credential } from '../call.ts';
import type { UpstreamTokens } from './credentials.ts';
import { fixedHeader, none } from './fixed.ts';
import { tokenExchange } from './token-exchange.ts';
import { upstreamInject } from './upstream-inject.ts';

export type { UpstreamTokens } from './credentials.ts';

export interface CredentialParts {
  /** Where the tokens of logins are kept, if there is an authorization server. The planner has seen to it where one is needed. */
  readonly upstreamTokens?: UpstreamTokens;
  readonly now: () => number;
}

/** Boundary 2: the credential a backend gets for an identity. It builds headers from nothing and never sees the caller's own. */
export function createCredential(plan: CredentialPlan, parts: CredentialParts): Credential {
  switch (plan.kind) {
    case 'none':
      return none;
    case 'header':
      return fixedHeader(plan.name, plan.value);
    case 'bearer':
      return fixedHeader('authorization', new Secret(`Bearer ${plan.token.reveal()}`));
    case 'upstream-inject':
      return upstreamInject(plan.provider, needed(parts.upstreamTokens));
    case 'token-exchange': {
      const { provider, header, addresses, ca } = plan;
      const fetch = createFetch({ range: addresses, ...(ca === undefined ? {} : { ca }) });
      return tokenExchange({
        exchange: createExchange(plan, fetch, parts.now),
        upstreamTokens: provider === undefined ? undefined : needed(parts.upstreamTokens),
        provider,
        header,
        now: parts.now,
      });
    }
  }
}

function needed(tokens: UpstreamTokens | undefined): UpstreamTokens {
  if (tokens) return tokens;
  throw new TypeError('a credential of a login was planned without an authorization server');
}
