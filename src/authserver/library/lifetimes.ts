import type { Configuration, Grant, KoaContextWithOIDC } from 'oidc-provider';
import type { AuthServerPlan } from '../../plan/index.ts';

/** A user has this long for the consent page and all providers, and ten minutes for each step of it. */
export const INTERACTION = 30 * 60;

/** Lifetimes by model. What came of a login never outlives it, however often a refresh token was renewed. */
export function lifetimesOf({ lifespans }: AuthServerPlan): NonNullable<Configuration['ttl']> {
  const withinLogin = (seconds: number) => (ctx: KoaContextWithOIDC) => Math.min(seconds, leftOf(ctx) ?? seconds);
  return {
    AccessToken: withinLogin(lifespans.accessToken),
    AuthorizationCode: lifespans.authCode,
    RefreshToken: withinLogin(lifespans.refreshToken),
    IdToken: withinLogin(lifespans.accessToken),
    Grant: lifespans.login,
    Interaction: INTERACTION,
    // None is kept; the library wants a number.
    Session: INTERACTION,
  };
}

function leftOf(ctx: KoaContextWithOIDC): number | undefined {
  const grant = ctx.oidc.entities.Grant as Grant | undefined;
  return grant?.exp === undefined ? undefined : Math.max(1, grant.exp - Math.floor(Date.now() / 1000));
}
