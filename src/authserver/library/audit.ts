import { createHash } from 'node:crypto';
import type { KoaContextWithOIDC, Provider } from 'oidc-provider';
import type { Log } from '../../base/index.ts';

/** A name for a grant that logs, pages and commands may show: the id itself is in tokens and leads to what is stored. */
export function nameOfGrant(grantId: string): string {
  return createHash('sha256').update(grantId).digest('hex').slice(0, 16);
}

/** Is told of each client that tokens are issued to. */
export interface UsedClients {
  used(clientId: string): Promise<void>;
}

/** What happens to clients and logins, one line each, without anything that could be used. */
export function auditEvents(provider: Provider, server: string, clients: readonly UsedClients[], log: Log): void {
  const fields = (ctx: KoaContextWithOIDC, grantId?: string) => ({
    server,
    client: ctx.oidc.client?.clientId,
    user: ctx.oidc.account?.accountId,
    grant: grantId === undefined ? undefined : nameOfGrant(grantId),
  });

  provider.on('registration_create.success', (_ctx, client) => {
    log.info('client.registered', {
      server,
      client: client.clientId,
      name: client.clientName,
      redirects: client.redirectUris,
    });
  });
  provider.on('grant.success', (ctx) => {
    const event = isRefresh(ctx) ? 'token.refreshed' : 'token.issued';
    log.info(event, fields(ctx, ctx.oidc.entities.Grant?.jti));
    const clientId = ctx.oidc.client?.clientId;
    // Not waited for: whether a client is kept longer must not decide about its token.
    if (clientId === undefined) return;
    for (const one of clients)
      one.used(clientId).catch((error: unknown) => log.warn('a client was not renewed', { error }));
  });
  provider.on('grant.revoked', (ctx, grantId) => {
    if (ctx.oidc.route === 'token') log.warn('token.reuse_detected', fields(ctx, grantId));
    log.info('grant.revoked', fields(ctx, grantId));
  });
  // What clients do wrong is theirs to see; a log that anybody can fill is of no use.
  provider.on('grant.error', (ctx, error) => log.debug('token refused', { ...fields(ctx), error }));
  provider.on('authorization.error', (ctx, error) => log.debug('authorization refused', { ...fields(ctx), error }));
  provider.on('registration_create.error', (_ctx, error) => log.debug('registration refused', { server, error }));
}

function isRefresh(ctx: KoaContextWithOIDC): boolean {
  return ctx.oidc.params?.grant_type === 'refresh_token';
}
