import type { Upstream } from '../../oauth/upstream/index.ts';
import type { AuthServerPlan, UpstreamPlan } from '../../plan/index.ts';
import type { LoginRecord } from '../logins.ts';
import type { Vault, VaultEntry } from '../vault/index.ts';

/**
 * `connected`: its tokens are good, or can be renewed. `over`: it was connected, and the provider gives no more tokens for it.
 * `none`: never connected by this login, or disconnected since.
 */
export type ConnectionState = 'connected' | 'over' | 'none';

/** What a login has at one provider. Times are in seconds since 1970. */
export interface ConnectionFacts {
  readonly state: ConnectionState;
  /** What the user is called there. */
  readonly account?: string;
  readonly scopes: readonly string[];
  readonly expiresAt?: number;
  /** Whether new tokens come without the user. */
  readonly isRenewed: boolean;
  readonly connectedAt?: number;
  readonly renewedAt?: number;
  readonly usedAt?: number;
}

export interface Connection extends ConnectionFacts {
  readonly provider: UpstreamPlan;
}

export interface OverviewParts {
  readonly plan: AuthServerPlan;
  readonly vault: Vault;
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

/** What a login has at each provider, in their order. */
export async function connectionsOf(login: LoginRecord, parts: OverviewParts): Promise<readonly Connection[]> {
  const owner = { clientId: login.client.id, userId: login.user.id };
  const rows = parts.vault.of(login.grantId);
  return await Promise.all(
    parts.plan.providers.map(async (provider) => {
      const found = await rows.find(provider.name, owner);
      const usedAt = login.use.providers[provider.name];
      return { ...describe(provider, found?.entry, parts), ...(usedAt === undefined ? {} : { usedAt }) };
    }),
  );
}

function describe(provider: UpstreamPlan, entry: VaultEntry | undefined, parts: OverviewParts): Connection {
  if (!entry) return { provider, state: 'none', scopes: [], isRenewed: false };
  const { subject, account = subject, scopes, expiresAt, connectedAt, renewedAt, refreshToken, source } = entry;
  const isGood = (expiresAt ?? Number.POSITIVE_INFINITY) * 1000 > parts.now() || refreshToken !== undefined;
  const isHere = parts.upstreams.get(provider.name)?.issued(source) === true;
  return {
    provider,
    state: isGood && isHere ? 'connected' : 'over',
    account,
    scopes,
    isRenewed: refreshToken !== undefined,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(connectedAt === undefined ? {} : { connectedAt }),
    ...(renewedAt === undefined ? {} : { renewedAt }),
  };
}
