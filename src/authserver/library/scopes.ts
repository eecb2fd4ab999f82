import { errors, type KoaContextWithOIDC } from 'oidc-provider';
import type { AuthServerPlan } from '../../plan/index.ts';

/** Every scope that a client may ask for. */
export function supportedScopes({ scopes }: AuthServerPlan): ReadonlySet<string> {
  return new Set(['openid', 'offline_access', ...scopes]);
}

/** A scope is worth claims of the user only if the operator lists it: the library supports whatever scope has claims. */
export function claimsOf(supported: ReadonlySet<string>): Record<string, string[]> {
  return {
    openid: ['sub'],
    ...(supported.has('profile') ? { profile: ['name'] } : {}),
    ...(supported.has('email') ? { email: ['email'] } : {}),
  };
}

type AuthorizationParams = { scope?: string | undefined; resource?: string | readonly string[] | undefined };

/**
 * The last check of an authorization request, by the library's hook for parameters of one's own, which runs for absent ones too.
 *
 * - Unknown scopes are refused. The library would leave them out, and the client would learn of it from its first failed call.
 * - `offline_access` stays. OIDC Core §11 lets a server leave it out without `prompt=consent`, unless other conditions permit it:
 *   here every login asks for consent.
 * - A request without scopes gets those that the client registered with, or all but `offline_access` (RFC 6749 §3.3).
 * - RFC 8707 allows several resources. A token of ours is good for one.
 */
export function createScopeCheck(supported: ReadonlySet<string>) {
  const everything = [...supported].filter((scope) => scope !== 'offline_access').join(' ');

  return function checkScope(ctx: KoaContextWithOIDC): void {
    const params = ctx.oidc.params as AuthorizationParams;
    if (Array.isArray(params.resource)) throw new errors.InvalidTarget('only one resource can be asked for');
    const asked = askedFor(ctx);
    const unknown = asked.find((scope) => !supported.has(scope));
    if (unknown !== undefined) {
      throw new errors.InvalidScope(`the scopes are ${[...supported].join(', ')}`, unknown);
    }
    const client = ctx.oidc.client;
    const registered = client?.scope?.split(' ');
    const allowed = asked.filter((scope) => scope !== 'offline_access' || client?.grantTypeAllowed('refresh_token'));
    const foreign = registered && allowed.find((scope) => !registered.includes(scope));
    if (foreign !== undefined) throw new errors.InvalidScope('the client did not register for this scope', foreign);
    params.scope = allowed.length > 0 ? allowed.join(' ') : (client?.scope ?? everything);
  };
}

/** As it came: what the library left out is not in its parameters any more. */
function askedFor(ctx: KoaContextWithOIDC): readonly string[] {
  const { scope } = ctx.query;
  return typeof scope === 'string' ? [...new Set(scope.split(' ').filter((one) => one !== ''))] : [];
}
