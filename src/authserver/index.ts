/**
 * The embedded authorization server: clients, logins and our own tokens, on the library `oidc-provider`. It issues tokens for the
 * resources of its plan and keeps the tokens of the identity providers; it never answers an MCP request, nor decides what a user
 * may do.
 */
import { createUpstream, type UpstreamStatus } from '../oauth/upstream/index.ts';
import type { AuthServerPlan } from '../plan/index.ts';
import { createInteractions } from './interactions/index.ts';
import { type Core, type CoreParts, type CoreReport, createCore } from './server.ts';
import { createFreshTokens, createRevocations, createVault, type FreshTokens } from './vault/index.ts';

export { forwardedAddressOf, type SourceOf } from './edge/source.ts';
export { LIMITS, type Limits } from './edge/throttle.ts';
export { type AuthServerMemory, type AuthServerMemoryOptions, createAuthServerMemory } from './memory.ts';
export type { IssuedTokens } from './server.ts';
export type AuthServerParts = CoreParts;

export interface AuthServerReport extends CoreReport {
  readonly providers: readonly UpstreamStatus[];
}

export interface AuthServer extends Omit<Core, 'report'> {
  /** The tokens that users have at the providers, for boundary 2. */
  readonly upstreamTokens: Pick<FreshTokens, 'accessToken'>;
  /** A page on which the user of a login connects his account at one more provider, or the same one anew. */
  connect(grantId: string, provider: string): Promise<string | undefined>;
  report(): AuthServerReport;
}

export async function createAuthServer(plan: AuthServerPlan, parts: AuthServerParts): Promise<AuthServer> {
  const { log, now = Date.now } = parts;
  const upstreams = new Map(plan.providers.map((provider) => [provider.name, createUpstream(provider, { log, now })]));
  const closeUpstreams = async (): Promise<void> => {
    await Promise.all([...upstreams.values()].map((one) => one.close()));
  };
  const opening = createCore(plan, parts, (login) => {
    const { records, storage } = login;
    const vault = createVault(records, now);
    const { routes, startConnection } = createInteractions({ ...login, vault, upstreams });
    const revocations = createRevocations({ upstreams, log });
    const upstreamTokens = createFreshTokens({
      vault,
      upstreams,
      locks: storage.locks,
      lockName: (grantId, provider) => records.group('refresh', JSON.stringify([grantId, provider])).keys[0],
      orphaned: revocations.revoke,
      log,
      now,
    });
    return {
      routes,
      upstreamTokens,
      connect: startConnection,
      async ending(grantId: string) {
        const entries = await vault.of(grantId).surrender([...upstreams.keys()]);
        return () => {
          for (const [provider, entry] of entries) revocations.revoke(provider, entry);
        };
      },
      async close() {
        await upstreamTokens.close();
        await revocations.close();
        await closeUpstreams();
      },
    };
  });
  const { login, ...core } = await opening.catch(async (error: unknown) => {
    await closeUpstreams();
    throw error;
  });
  return {
    ...core,
    upstreamTokens: login.upstreamTokens,
    connect: login.connect,
    report: () => ({ ...core.report(), providers: [...upstreams.values()].map((one) => one.status()) }),
  };
}
