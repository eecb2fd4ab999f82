import { Secret } from '../../base/index.ts';
import type { TokenSource, UpstreamTokens } from '../../oauth/upstream/index.ts';
import { grantGroup } from '../storage/kinds.ts';
import type { Records, Version } from '../storage/records.ts';

/** Whose tokens they are. A reader has to say it, and gets nothing when it is not so. */
export interface Owner {
  readonly clientId: string;
  readonly userId: string;
}

/** What a provider gave for one login. */
export interface VaultEntry extends UpstreamTokens {
  /** Who the user is at the provider. */
  readonly subject: string;
  /** What he is called there, for himself to read. */
  readonly account?: string;
  /** Seconds since 1970. */
  readonly connectedAt?: number;
  /** When a refresh last brought another access token. */
  readonly renewedAt?: number;
}

export interface FoundEntry {
  readonly entry: VaultEntry;
  readonly version: Version;
  /** When the grant ends, and the entry with it. Seconds since 1970. */
  readonly until: number;
}

/** The tokens of one grant, by the names of their providers. */
export interface GrantVault {
  /** Keeps what a leg of a login that is still under way brought. Nobody can read it before `settle`. */
  deposit(provider: string, entry: VaultEntry, ttl: number): Promise<void>;
  /** The login is complete: from now on the entries belong to this owner and live as long as the grant can. */
  settle(providers: readonly string[], owner: Owner, ttl: number): Promise<void>;
  /** Gives one entry to a grant that stands, in place of what that had of the provider. */
  handOver(provider: string, grantId: string, owner: Owner, ttl: number): Promise<void>;
  find(provider: string, owner: Owner): Promise<FoundEntry | undefined>;
  /** Replaces an entry that was found, unless somebody else did so meanwhile; says whether it did. */
  replace(owner: Owner, found: FoundEntry, entry: VaultEntry): Promise<boolean>;
  /** Takes one entry out, for whoever tells the provider so. */
  release(provider: string, owner: Owner): Promise<VaultEntry | undefined>;
  /** What these providers gave, for whoever ends the grant and tells them so. */
  surrender(providers: readonly string[]): Promise<ReadonlyMap<string, VaultEntry>>;
  /** Ends the grant: everything that came of it goes, not only what is in here. */
  clear(): Promise<void>;
}

/** Tokens of identity providers, sealed. There is no way to ask for them but by a grant. */
export interface Vault {
  of(grantId: string): GrantVault;
}

interface Row {
  readonly subject: string;
  readonly account?: string;
  readonly connectedAt?: number;
  readonly renewedAt?: number;
  readonly clientId?: string;
  readonly userId?: string;
  readonly accessToken: string;
  readonly refreshToken?: string;
  readonly idToken?: string;
  readonly expiresAt?: number;
  readonly renewAt?: number;
  readonly scopes: readonly string[];
  readonly source: TokenSource;
  readonly until?: number;
}

/** `now` gives milliseconds since 1970. */
export function createVault(records: Records, now: () => number = Date.now): Vault {
  const rows = records.rows<Row>('upstream-tokens');
  const seconds = (): number => Math.floor(now() / 1000);
  return {
    of(grantId) {
      const idOf = (provider: string): string => JSON.stringify([grantId, provider]);
      const options = (ttl: number) => ({ ttl, groups: [grantGroup(records, grantId)] });
      return {
        async deposit(provider, entry, ttl) {
          await rows.put(idOf(provider), { ...rowOf(entry), connectedAt: seconds() }, options(ttl));
        },
        async settle(providers, owner, ttl) {
          for (const provider of providers) {
            const found = await rows.find(idOf(provider));
            const kept =
              found &&
              (await rows.swap(found.version, { ...found.value, ...owner, until: seconds() + ttl }, options(ttl)));
            if (!kept) throw new Error(`the tokens of ${provider} were gone before the login was complete`);
          }
        },
        async handOver(provider, receiver, owner, ttl) {
          const row = await rows.take(idOf(provider));
          if (!row) throw new Error(`the tokens of ${provider} were gone before they were handed over`);
          const groups = [grantGroup(records, receiver)];
          const kept = { ...row, ...owner, until: seconds() + ttl };
          await rows.put(JSON.stringify([receiver, provider]), kept, { ttl, groups });
        },
        async find(provider, owner) {
          const found = await rows.find(idOf(provider));
          if (!found || !isOwnedBy(found.value, owner)) return undefined;
          return { entry: entryOf(found.value), version: found.version, until: found.value.until ?? 0 };
        },
        replace(owner, { version, until, entry: before }, entry) {
          const ttl = Math.max(1, until - seconds());
          const isSame = entry.accessToken.reveal() === before.accessToken.reveal();
          const renewed = isSame ? {} : { renewedAt: seconds() };
          // It is in its group already, and lives no longer than it did: one write is all that lies between us and a safe token.
          return rows.swap(version, { ...rowOf(entry), ...renewed, ...owner, until }, { ttl });
        },
        async release(provider, owner) {
          const found = await rows.get(idOf(provider));
          if (!found || !isOwnedBy(found, owner)) return undefined;
          const row = await rows.take(idOf(provider));
          return row && entryOf(row);
        },
        async surrender(providers) {
          const found = new Map<string, VaultEntry>();
          for (const provider of providers) {
            const row = await rows.get(idOf(provider));
            if (row) found.set(provider, entryOf(row));
          }
          return found;
        },
        clear: () => records.removeGroup(grantGroup(records, grantId)),
      };
    },
  };
}

function isOwnedBy(row: Row, { clientId, userId }: Owner): boolean {
  return row.clientId === clientId && row.userId === userId;
}

function rowOf(entry: VaultEntry): Row {
  const { accessToken, refreshToken, idToken, expiresAt, renewAt, subject, scopes, source } = entry;
  return {
    ...aboutOf(entry),
    subject,
    scopes,
    source,
    accessToken: accessToken.reveal(),
    ...(refreshToken ? { refreshToken: refreshToken.reveal() } : {}),
    ...(idToken ? { idToken: idToken.reveal() } : {}),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(renewAt === undefined ? {} : { renewAt }),
  };
}

function entryOf(row: Row): VaultEntry {
  const { accessToken, refreshToken, idToken, expiresAt, renewAt, subject, scopes, source } = row;
  return {
    ...aboutOf(row),
    subject,
    scopes,
    source,
    accessToken: new Secret(accessToken),
    ...(refreshToken === undefined ? {} : { refreshToken: new Secret(refreshToken) }),
    ...(idToken === undefined ? {} : { idToken: new Secret(idToken) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(renewAt === undefined ? {} : { renewAt }),
  };
}

/** What only people look at. */
function aboutOf({ account, connectedAt, renewedAt }: VaultEntry | Row) {
  return {
    ...(account === undefined ? {} : { account }),
    ...(connectedAt === undefined ? {} : { connectedAt }),
    ...(renewedAt === undefined ? {} : { renewedAt }),
  };
}
