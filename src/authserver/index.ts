/**
 * The embedded authorization server: clients, logins and our own tokens, on the library `oidc-provider`. It issues tokens for the
 * resources of its plan and keeps the tokens of the identity providers; it never answers an MCP request, nor decides what a user
 * may do.
 */
import { createUpstream, type Upstream, type UpstreamStatus } from '../oauth/upstream/index.ts';
import type { AuthServerPlan } from '../plan/index.ts';
import { type AuthAdmin, createAdmin } from './admin.ts';
import { createConnectLinks } from './connect-links.ts';
import { createInteractions } from './interactions/index.ts';
import { type Core, type CoreParts, type CoreReport, createCore } from './server.ts';
import { withTroubles } from './troubles.ts';
import type { Uses } from './uses.ts';
import {
  createDisconnect,
  createFreshTokens,
  createRevocations,
  createVault,
  type FreshTokens,
} from './vault/index.ts';

export type { AuthAdmin, AuthReport, ConnectionReport, Revoked, Selection, SessionReport } from './admin.ts';
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
  /** For whoever runs the server, not for the network. */
  readonly admin: AuthAdmin;
  report(): AuthServerReport;
}

export async function createAuthServer(plan: AuthServerPlan, parts: AuthServerParts): Promise<AuthServer> {
  const { log, now = Date.now } = parts;
  const upstreams: ReadonlyMap<string, Upstream> = new Map(
    plan.providers.map((provider) => [provider.name, withTroubles(createUpstream(provider, { log, now }))]),
  );
  const closeUpstreams = async (): Promise<void> => {
    await Promise.all([...upstreams.values()].map((one) => one.close()));
  };
  const opening = createCore(plan, parts, (login) => {
    const { records, storage, uses } = login;
    const vault = createVault(records, now);
    const revocations = createRevocations({ upstreams, log });
    const upstreamTokens = createFreshTokens({
      vault,
      upstreams,
      locks: storage.locks,
      lockNames: (grantId, provider) => records.group('refresh', JSON.stringify([grantId, provider])).keys,
      orphaned: revocations.revoke,
      log,
      now,
    });
    const { disconnect, close: stopListening } = createDisconnect({
      server: plan.name,
      vault,
      fresh: upstreamTokens,
      revocations,
      broadcast: storage.broadcast,
      log,
    });
    const { routes, startConnection } = createInteractions({ ...login, vault, upstreams, disconnect });
    return {
      routes,
      upstreamTokens: noting(upstreamTokens, uses),
      connect: createConnectLinks(startConnection, now),
      admin: createAdmin({ ...login, vault, upstreams }),
      async ending(grantId: string) {
        const entries = await vault.of(grantId).surrender([...upstreams.keys()]);
        return () => {
          for (const [provider, entry] of entries) revocations.revoke(provider, entry);
        };
      },
      async close() {
        stopListening();
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
    admin: login.admin,
    report: () => ({ ...core.report(), providers: [...upstreams.values()].map((one) => one.status()) }),
  };
}

/** Whoever is given a token of a provider uses that connection. */
function noting({ accessToken }: FreshTokens, uses: Uses): AuthServer['upstreamTokens'] {
  return {
    accessToken(owner, provider, refused) {
      if (owner.grant !== undefined) uses.note(owner.grant, provider);
      return accessToken(owner, provider, refused);
    },
  };
}
