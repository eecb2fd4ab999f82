import { type AsymmetricSigningAlgorithm, errors, type ResourceServer } from 'oidc-provider';
import type { AuthServerPlan } from '../../plan/index.ts';
import type { SigningKeys } from '../keys.ts';

/** RFC 8707: a token is good for one of the configured resources, which the code and the refresh token stay bound to. */
export function createResourceIndicators(plan: AuthServerPlan, scopes: ReadonlySet<string>, [key]: SigningKeys) {
  const [first] = plan.resources;

  function find(indicator: string): string | undefined {
    return plan.resources.find((resource) => resource === indicator || `${resource}/` === rootOf(indicator));
  }

  return {
    enabled: true,
    /** At authorize what a client means that names none. At the token endpoint `several` are given, and stay refused. */
    defaultResource: (_ctx: unknown, _client: unknown, several?: string[]) => several ?? first,
    useGrantedResource: () => true,
    getResourceServerInfo(_ctx: unknown, indicator: string): ResourceServer {
      const resource = find(indicator);
      if (resource === undefined) throw new errors.InvalidTarget('no such resource here');
      return {
        // All of them, so that the answer to the client and the token repeat what was granted.
        scope: [...scopes].join(' '),
        audience: resource,
        accessTokenFormat: 'jwt',
        jwt: { sign: { alg: key.alg as AsymmetricSigningAlgorithm, kid: key.kid } },
      };
    },
  };
}

/** Many clients put the address of a server without a path through a parser that adds a slash; it is the same address. */
function rootOf(indicator: string): string | undefined {
  return URL.parse(indicator)?.pathname === '/' ? indicator : undefined;
}
