import { setTimeout as sleep } from 'node:timers/promises';
import type { UpstreamStatus } from '../oauth/upstream/index.ts';
import { type Connection, connectionsOf, type OverviewParts } from './account/index.ts';
import { randomValue } from './interactions/flow.ts';
import { createLoginPaths } from './interactions/paths.ts';
import { nameOfGrant } from './library/audit.ts';
import { byLastUse, type LoginRecord, type Logins } from './logins.ts';
import type { Uses } from './uses.ts';

/** One login, as whoever runs the server sees it. Times are ISO 8601. Nothing in it opens anything. */
export interface SessionReport {
  /** What `sally auth revoke` takes. Logs have it as `grant`. */
  readonly id: string;
  readonly user: { readonly id: string; readonly name?: string; readonly email?: string };
  readonly client: { readonly id: string; readonly name?: string };
  readonly since: string;
  readonly lastUse?: string;
  readonly until: string;
  readonly connections: readonly ConnectionReport[];
}

export interface ConnectionReport {
  readonly provider: string;
  readonly state: Connection['state'];
  readonly account?: string;
  readonly scopes: readonly string[];
  readonly backends: readonly string[];
  /** When its tokens end, or with `renewed`, when they are renewed at the latest. */
  readonly expires?: string;
  readonly renewed: boolean;
  readonly lastRefresh?: string;
  readonly lastUse?: string;
  /** What somebody can do so that it works (again). */
  readonly repair?: string;
}

export interface AuthReport {
  /** `namespace/name` of the virtual server. */
  readonly server: string;
  /** Where users see and end their own logins. */
  readonly page: string;
  readonly providers: readonly UpstreamStatus[];
  /** Those used last come first. */
  readonly sessions: readonly SessionReport[];
  /** How many there are in all, more or less. */
  readonly total: number;
}

/** Which logins are meant: one by its id, those of a user by his id or email address, or all. */
export type Selection = { readonly id: string } | { readonly user: string } | { readonly all: true };

export interface Revoked {
  readonly ended: number;
  /** There are more: ask again. */
  readonly isMore: boolean;
  /** Several users have this email address, and nothing was ended: ids to choose from. */
  readonly ambiguous?: readonly string[];
}

/** Logins for whoever runs the server. Reached over a socket of his own, never over the network. */
export interface AuthAdmin {
  report(user?: string): Promise<AuthReport>;
  revoke(selection: Selection): Promise<Revoked>;
}

export interface AdminParts extends OverviewParts {
  readonly logins: Logins;
  readonly uses: Uses;
  readonly endLogin: (login: LoginRecord, by: string) => Promise<void>;
}

/** Of so many the latest are looked for, and so many are told. */
const MOST_READ = 5_000;
const MOST_TOLD = 500;
const ENDED_AT_ONCE = 500;
const SIDE_BY_SIDE = 20;
const LOOK_WITHIN = 2_000;

export function createAdmin(parts: AdminParts): AuthAdmin {
  const { plan, upstreams, logins, uses } = parts;
  const paths = createLoginPaths(plan.issuer);
  const page = new URL(paths.connections, plan.issuer).href;

  /** All of them, however many: a login that is not found cannot be ended. */
  async function* meant(selection: Selection): AsyncGenerator<LoginRecord> {
    for await (const login of logins.all()) if (isMeant(login, selection)) yield login;
  }

  async function newest(user: string | undefined): Promise<readonly LoginRecord[]> {
    const found: LoginRecord[] = [];
    for await (const login of meant(user === undefined ? { all: true } : { user })) {
      if (found.push(uses.upToDate(login)) >= MOST_READ) break;
    }
    return found.sort(byLastUse).slice(0, MOST_TOLD);
  }

  /** Providers are asked when they are needed. Now they are: somebody wants to know how they are. */
  async function look(): Promise<readonly UpstreamStatus[]> {
    const asked = [...upstreams.values()].map((upstream) => upstream.begin(randomValue(), paths.callbackUrl));
    await Promise.race([Promise.allSettled(asked), sleep(LOOK_WITHIN, undefined, { ref: false })]);
    return [...upstreams.values()].map((upstream) => upstream.status());
  }

  async function sessionOf(login: LoginRecord, providers: readonly UpstreamStatus[]): Promise<SessionReport> {
    const { grantId, user, client, since, until, use } = login;
    const { id, name } = client;
    const found = await connectionsOf(login, parts);
    return {
      id: nameOfGrant(grantId),
      user,
      client: { id, ...(name === undefined ? {} : { name }) },
      since: iso(since),
      ...(use.at === undefined ? {} : { lastUse: iso(use.at) }),
      until: iso(until),
      connections: found.map((connection) =>
        connectionReport(connection, providers.find((one) => one.name === connection.provider.name)?.problem),
      ),
    };
  }

  function connectionReport(connection: Connection, problem: string | undefined): ConnectionReport {
    const { provider, state, account, scopes, expiresAt, isRenewed, renewedAt, usedAt } = connection;
    const repair = problem ?? repairOf(connection);
    return {
      provider: provider.name,
      state,
      ...(account === undefined ? {} : { account }),
      scopes,
      backends: provider.backends,
      ...(expiresAt === undefined ? {} : { expires: iso(expiresAt) }),
      renewed: isRenewed,
      ...(renewedAt === undefined ? {} : { lastRefresh: iso(renewedAt) }),
      ...(usedAt === undefined ? {} : { lastUse: iso(usedAt) }),
      ...(repair === undefined ? {} : { repair }),
    };
  }

  function repairOf({ state, provider }: Connection): string | undefined {
    if (state === 'connected') return undefined;
    if (state === 'none' && !provider.required) return `nothing: it is connected when a tool needs it, or at ${page}`;
    return `the user connects it at ${page}, or logs in again with his client`;
  }

  return {
    async report(user) {
      const providers = await look();
      const found = await newest(user);
      const sessions: SessionReport[] = [];
      for (const some of chunks(found)) {
        sessions.push(...(await Promise.all(some.map((login) => sessionOf(login, providers)))));
      }
      return { server: plan.name, page, providers, sessions, total: await logins.count() };
    },
    async revoke(selection) {
      const found: LoginRecord[] = [];
      for await (const login of meant(selection)) {
        found.push(login);
        if (found.length > ENDED_AT_ONCE && !('user' in selection)) break;
      }
      const users = new Set(found.map(({ user }) => user.id));
      if ('user' in selection && users.size > 1) return { ended: 0, isMore: false, ambiguous: [...users] };
      const now = found.slice(0, ENDED_AT_ONCE);
      for (const some of chunks(now)) await Promise.all(some.map((login) => parts.endLogin(login, 'an administrator')));
      return { ended: now.length, isMore: found.length > now.length };
    },
  };
}

function isMeant({ grantId, user }: LoginRecord, selection: Selection): boolean {
  if ('id' in selection) return nameOfGrant(grantId) === selection.id;
  if ('all' in selection) return true;
  return user.id === selection.user || user.email?.toLowerCase() === selection.user.toLowerCase();
}

function* chunks<T>(items: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < items.length; from += SIDE_BY_SIDE) yield items.slice(from, from + SIDE_BY_SIDE);
}

function iso(seconds: number): string {
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}
