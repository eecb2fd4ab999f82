import type { ClientView } from './pages/index.ts';
import { grantGroup, KIND } from './storage/kinds.ts';
import type { Records, RowGroup } from './storage/records.ts';
import type { User } from './users.ts';

/** A login that stands, as its user and whoever runs the server see it. Times are in seconds since 1970. */
export interface LoginRecord {
  readonly grantId: string;
  readonly user: User;
  readonly client: ClientView;
  readonly since: number;
  /** It ends then at the latest. */
  readonly until: number;
  readonly use: Use;
}

/** When a login was last used, and what it has at each provider. To the minute, more or less. */
export interface Use {
  readonly at?: number;
  readonly providers: Readonly<Record<string, number>>;
}

/** Finds logins by their user, or all of them. Nothing else leads from a user to his grants. */
export interface Logins {
  /** Notes a new login, and gives those of the user that have to give way to it: used last the longest time ago. */
  begin(login: Omit<LoginRecord, 'use'>): Promise<readonly LoginRecord[]>;
  find(grantId: string): Promise<LoginRecord | undefined>;
  of(userId: string): Promise<readonly LoginRecord[]>;
  all(): AsyncGenerator<LoginRecord>;
  /** About as many as there are. */
  count(): Promise<number>;
  used(grantId: string, use: Use): Promise<void>;
  /** The grant is gone, and its row with it: now nobody looks for it any more. */
  forget(login: LoginRecord): Promise<void>;
}

/** More than anybody keeps an eye on. A client that logs in anew each time it starts must not fill the store. */
const MOST = 200;
const ATTEMPTS = 3;

export function createLogins(records: Records, now: () => number): Logins {
  const rows = records.rows<LoginRecord>(KIND.login);
  const everybody = records.group('logins', 'all');
  const groupOf = (userId: string): RowGroup => records.group('logins', JSON.stringify(['user', userId]));
  const left = ({ until }: Pick<LoginRecord, 'until'>): number => Math.max(1, until - Math.floor(now() / 1000));

  async function of(userId: string): Promise<readonly LoginRecord[]> {
    const found: LoginRecord[] = [];
    for await (const login of rows.each(groupOf(userId))) found.push(login);
    return found.sort(byLastUse);
  }

  return {
    of,
    async begin(login) {
      const { grantId, user } = login;
      const groups = [grantGroup(records, grantId), groupOf(user.id), everybody];
      await rows.put(grantId, { ...login, use: { providers: {} } }, { ttl: left(login), groups });
      if ((await records.sizeOf(groupOf(user.id))) <= MOST) return [];
      return (await of(user.id)).slice(MOST).filter((one) => one.grantId !== grantId);
    },
    find: (grantId) => rows.get(grantId),
    all: () => rows.each(everybody),
    count: () => records.sizeOf(everybody),
    async used(grantId, use) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const found = await rows.find(grantId);
        if (!found) return; // it ended meanwhile
        const login = { ...found.value, use: latest(found.value.use, use) };
        if (await rows.swap(found.version, login, { ttl: left(login) })) return;
      }
    },
    forget: ({ grantId, user }) => rows.remove(grantId, [groupOf(user.id), everybody]),
  };
}

/** Of each time the later one. */
export function latest(one: Use, other: Use): Use {
  const names = new Set([...Object.keys(one.providers), ...Object.keys(other.providers)]);
  const later = (name: string): number => Math.max(one.providers[name] ?? 0, other.providers[name] ?? 0);
  const at = Math.max(one.at ?? 0, other.at ?? 0);
  return {
    ...(at === 0 ? {} : { at }),
    providers: Object.fromEntries([...names].map((name) => [name, later(name)])),
  };
}

export function byLastUse(one: LoginRecord, other: LoginRecord): number {
  return (other.use.at ?? other.since) - (one.use.at ?? one.since);
}
