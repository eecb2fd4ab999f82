import { Secret } from '../../base/index.ts';
import { createExchange, createFetch } from '../../oauth/index.ts';
import type { CredentialPlan } from '../../plan/index.ts';
import type { Credential, UpstreamTokens } from '../call.ts';
import { fixedHeader, none } from './fixed.ts';
import { tokenExchange } from './token-exchange.ts';
import { upstreamInject } from './upstream-inject.ts';

export interface CredentialParts {
  /**
   * Where the tokens of logins are kept, if there is an authorization server: asked each time, since a credential outlives a
   * reload and the server does not. The planner has seen to it where one is needed.
   */
  readonly upstreamTokens: () => UpstreamTokens | undefined;
  readonly now: () => number;
}

/** Boundary 2: the credential a backend gets for an identity. It builds headers from nothing and never sees the caller's own. */
export function createCredential(plan: CredentialPlan, parts: CredentialParts): Credential {
  const tokens = (): UpstreamTokens => needed(parts.upstreamTokens());
  switch (plan.kind) {
    case 'none':
      return none;
    case 'header':
      return fixedHeader(plan.name, plan.value);
    case 'bearer':
      return fixedHeader('authorization', new Secret(`Bearer ${plan.token.reveal()}`));
    case 'upstream-inject':
      tokens(); // what was planned wrong shows now, not with the first call
      return upstreamInject(plan.provider, tokens);
    case 'token-exchange': {
      const { provider, header, addresses, ca } = plan;
      if (provider !== undefined) tokens();
      const fetch = createFetch({ range: addresses, ...(ca === undefined ? {} : { ca }) });
      const credential = tokenExchange({
        exchange: createExchange(plan, fetch, parts.now),
        upstream: provider === undefined ? undefined : { provider, tokens },
        header,
        now: parts.now,
      });
      return { ...credential, close: () => fetch.close() };
    }
  }
}

function needed(tokens: UpstreamTokens | undefined): UpstreamTokens {
  if (tokens) return tokens;
  throw new TypeError('a credential of a login was planned without an authorization server');
}
