import type { Provider } from 'oidc-provider';
import type { Log, Route } from '../base/index.ts';
import { createFetch, type GuardedFetch, type KeyLookup, keyLookup } from '../oauth/index.ts';
import type { AuthServerPlan } from '../plan/index.ts';
import { createClientDocuments } from './clients/documents.ts';
import { createKeptDocuments } from './clients/kept-documents.ts';
import { type RedirectRules, redirectSchemes } from './clients/redirect-uri.ts';
import { createEdge } from './edge/edge.ts';
import { createOwnTokens } from './edge/own-tokens.ts';
import { createRefresh } from './edge/refresh.ts';
import { addressOf, type SourceOf } from './edge/source.ts';
import { createThrottle, type PageRoute, throttled } from './edge/throttle.ts';
import { createGrants } from './grants.ts';
import { resolveSigningKeys } from './keys.ts';
import { createAsk } from './library/ask.ts';
import { auditEvents, nameOfGrant } from './library/audit.ts';
import { createProvider } from './library/provider.ts';
import { supportedScopes } from './library/scopes.ts';
import { createLimiter } from './limits.ts';
import { createLogins, type LoginRecord, type Logins } from './logins.ts';
import type { AuthServerMemory } from './memory.ts';
import { sendErrorPage } from './page.ts';
import { createServerSecrets, type ServerSecrets } from './secrets.ts';
import { createShared, type Shared } from './shared.ts';
import { createClientRows } from './storage/clients.ts';
import { createRecords, type Records } from './storage/records.ts';
import { createRotation } from './storage/rotation.ts';
import type { Storage } from './storage/storages.ts';
import { createUsers, type Users } from './users.ts';
import { createUses, type Uses } from './uses.ts';

export interface CoreParts {
  readonly memory: AuthServerMemory;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
  /** Whom requests are counted for, when a proxy is known to tell. */
  readonly sourceOf?: SourceOf;
  /** How client metadata documents are fetched; by default only from public addresses. */
  readonly documentFetch?: GuardedFetch;
}

/** What the login pages work with. */
export interface LoginParts {
  readonly plan: AuthServerPlan;
  readonly provider: Provider;
  readonly records: Records;
  readonly secrets: ServerSecrets;
  readonly users: Users;
  readonly logins: Logins;
  readonly uses: Uses;
  /** Ends a login with everything that came of it, in every process. `by` goes to the log. */
  readonly endLogin: (login: LoginRecord, by: string) => Promise<void>;
  readonly storage: Storage;
  readonly log: Log;
  readonly now: () => number;
}

/** The pages between `authorize` and the way back to the client. */
export interface Login {
  readonly routes: readonly PageRoute[];
  /** A login is about to end: what goes with it is looked at, and what has to be done afterwards given back. */
  ending?(grantId: string): Promise<() => void>;
  close(): Promise<void>;
}

/** Our own access tokens, for boundary 1. */
export interface IssuedTokens {
  readonly keys: KeyLookup;
  /** Whether the login that a token names still stands. In memory the answer is there at once. */
  isLive(grantId: string): boolean | Promise<boolean>;
  /** Hears of logins that are ended, here or in another process. Gives a function that stops it. */
  onEnded(listener: (grantId: string) => void): () => void;
}

export interface Core {
  readonly issuer: string;
  /** Names by which browsers and clients call it. */
  readonly hosts: readonly string[];
  readonly routes: readonly Route[];
  readonly tokens: IssuedTokens;
  readonly shared: Shared;
  report(): CoreReport;
  close(): Promise<void>;
}

export interface CoreReport {
  readonly issuer: string;
  /** Ids of the published keys; the first signs. */
  readonly keys: readonly string[];
  /** What is gone after a restart. */
  readonly lostOnRestart: readonly string[];
  readonly storage: AuthServerPlan['storage']['kind'];
}

/** draft-ietf-oauth-client-id-metadata-document §6.6 suggests 5 kB; the library waits 2.5 seconds. */
const DOCUMENT = { range: 'public', timeout: 3_000, maxAnswer: 5 * 1024 } as const;
/** Enough for clients that come and go, too little to make us a nuisance for somebody else. */
const DOCUMENTS = { perHost: { burst: 10, perSecond: 0.2 }, inAll: { burst: 100, perSecond: 5 } } as const;

/** The authorization server, with whatever shows the login pages. */
export async function createCore<L extends Login>(
  plan: AuthServerPlan,
  parts: CoreParts,
  createLogin: (parts: LoginParts) => L,
): Promise<Core & { readonly login: L }> {
  const { memory, log } = parts;
  const keys = await resolveSigningKeys(plan.signingKeys, memory.signingKey);
  const secrets = secretsOf(plan, memory);
  const storage = await memory.storage(plan.storage, { name: plan.name, log });
  try {
    return assemble(plan, parts, { keys, secrets, storage }, createLogin);
  } catch (error) {
    await storage.release();
    throw error;
  }
}

interface Opened {
  readonly keys: Awaited<ReturnType<typeof resolveSigningKeys>>;
  readonly secrets: ServerSecrets;
  readonly storage: Storage;
}

function assemble<L extends Login>(
  plan: AuthServerPlan,
  parts: CoreParts,
  { keys, secrets, storage }: Opened,
  createLogin: (parts: LoginParts) => L,
): Core & { readonly login: L } {
  const { memory, log, now = Date.now, sourceOf = addressOf } = parts;
  const records = createRecords(storage.store, secrets);
  const clients = createClientRows(records, now);
  const users = createUsers(records);
  const logins = createLogins(records, now);
  const uses = createUses({ logins, log, now });
  const scopes = supportedScopes(plan);
  const redirects: RedirectRules = { schemes: redirectSchemes(plan.registration.redirectSchemes) };
  const documentFetch = parts.documentFetch ?? createFetch(DOCUMENT);
  const kept = createKeptDocuments(records, now);
  const documents = createClientDocuments({
    fetch: documentFetch,
    hosts: plan.registration.metadataHosts,
    rules: { scopes, redirects: { schemes: 'none' } },
    kept,
    perHost: createLimiter(DOCUMENTS.perHost, now),
    inAll: createLimiter(DOCUMENTS.inAll, now),
    log,
    now,
  });
  const reused = (grantId: string) => {
    log.warn('token.reuse_detected', { server: plan.name, grant: nameOfGrant(grantId) });
  };
  const grants = createGrants({
    records,
    broadcast: storage.broadcast,
    async ending(grantId) {
      const known = await logins.find(grantId);
      const afterwards = await login.ending?.(grantId);
      return () => {
        afterwards?.();
        // What stays in a list ends by itself, and leads nowhere.
        if (known) logins.forget(known).catch(() => {});
      };
    },
    log,
    now,
  });
  const endLogin: LoginParts['endLogin'] = async ({ grantId, user, client }, by) => {
    await grants.end(grantId);
    const grant = nameOfGrant(grantId);
    log.info('grant.revoked', { server: plan.name, client: client.id, user: user.id, grant, by });
  };
  const rotation = createRotation(log);
  const provider = createProvider(plan, {
    keys,
    secrets,
    records,
    clients,
    endGrant: grants.end,
    rotation,
    reused,
    documents,
    redirects,
    findUser: users.find,
  });
  auditEvents(provider, plan.name, [clients, kept], log);
  const tokens: IssuedTokens = { keys: keyLookup(keys), isLive: noting(grants.isLive, uses), onEnded: grants.onEnded };
  const ask = createAsk(provider, new URL(plan.issuer));
  const throttle = createThrottle(memory.counters, sourceOf);
  const login = createLogin({
    plan,
    provider,
    records,
    secrets,
    users,
    logins,
    uses,
    endLogin,
    storage,
    log,
    now,
  });
  const lostOnRestart = lostBy(plan);
  if (lostOnRestart.length > 0 && memory.firstWarning()) {
    log.warn('a restart of the authorization server ends every login', { server: plan.name, lost: lostOnRestart });
  }

  return {
    issuer: plan.issuer,
    hosts: [plan.issuer, plan.authorizationEndpointBase ?? plan.issuer].map((url) => new URL(url).hostname),
    routes: [
      ...createEdge(plan, {
        ask,
        rules: { scopes, redirects },
        ownTokens: createOwnTokens(plan, { ask, ...tokens, revoke: grants.end, log, now }),
        refresh: createRefresh({ provider, records, rotation }),
        throttle,
        sendErrorPage,
        log,
      }),
      ...login.routes.map((route) => throttled(route, throttle, sendErrorPage)),
    ],
    tokens,
    shared: createShared(plan, records, secrets),
    login,
    report: () => ({
      issuer: plan.issuer,
      keys: keys.map(({ kid }) => kid),
      lostOnRestart,
      storage: plan.storage.kind,
    }),
    async close() {
      await login.close();
      await uses.close();
      grants.close();
      await storage.release();
      if (documentFetch !== parts.documentFetch) await documentFetch.close();
    },
  };
}

/** Boundary 1 asks for every call: that is how a login is known to be used. */
function noting(isLive: IssuedTokens['isLive'], uses: Uses): IssuedTokens['isLive'] {
  return (grantId) => {
    const live = isLive(grantId);
    if (live === true) uses.note(grantId);
    if (typeof live === 'boolean') return live;
    return live.then((stands) => {
      if (stands) uses.note(grantId);
      return stands;
    });
  };
}

function secretsOf({ name, hmacSecrets }: AuthServerPlan, memory: AuthServerMemory): ServerSecrets {
  const [first, ...others] = hmacSecrets;
  return createServerSecrets(name, first ? [first, ...others] : [memory.secret()]);
}

function lostBy({ signingKeys, hmacSecrets, storage }: AuthServerPlan): readonly string[] {
  return [
    ...(signingKeys.length === 0 ? ['the signing key, as signingKeySecretRefs is not set'] : []),
    ...(hmacSecrets.length === 0 ? ['the secret of stored rows, as hmacSecretRefs is not set'] : []),
    ...(storage.kind === 'memory' ? ['registered clients and logins, as storage is memory'] : []),
  ];
}
