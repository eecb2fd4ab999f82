import { strict as assert } from 'node:assert';
import { startBoundaries } from '../boundaries.ts';
import type { Caller } from '../caller.ts';
import { startIdentityProvider, type TestUser } from '../identity-provider.ts';
import { startRecordingServer } from '../recording-server.ts';
import { startTokenExchange } from '../token-exchange.ts';

export interface CrossingsFigures {
  readonly users: number;
  readonly calls: number;
  /** Calls that showed a backend anything but the one token it must see. */
  readonly crossings: number;
  readonly exchanges: number;
  readonly callsPerSecond: number;
}

const AT_ONCE = 50;
const LOGINS_AT_ONCE = 10;

/** Many users call three backends in no order. Each backend must see the token that was made for this user, each time. */
export async function proveNoCrossings(sizes: {
  readonly users: number;
  readonly calls: number;
}): Promise<CrossingsFigures> {
  const names = Array.from({ length: sizes.users }, (_, n) => `user-${n}`);
  const users = Object.fromEntries(names.map((name): [string, TestUser] => [name, personOf(name)]));
  await using corp = await startIdentityProvider({ name: 'corp', users });
  await using hub = await startIdentityProvider({ name: 'hub', users });
  await using exchange = await startTokenExchange(corp);
  await using code = await startRecordingServer();
  await using tickets = await startRecordingServer({ era: 'modern' });
  await using files = await startRecordingServer({ era: 'modern' });
  const { tokenUrl, client } = exchange;
  const exchanged = (more: object) => ({
    type: 'tokenExchange',
    tokenExchange: { tokenUrl, clientId: client.id, clientSecretRef: { name: 'exchange', key: 'client' }, ...more },
  });
  await using gate = await startBoundaries({
    providers: { corp, hub },
    backends: {
      code: { server: code, auth: { type: 'upstreamInject', upstreamInject: { providerName: 'hub' } } },
      tickets: { server: tickets, auth: exchanged({ subjectProviderName: 'corp' }) },
      files: { server: files, auth: exchanged({}) },
    },
    secrets: { 'exchange/client': client.secret },
  });
  exchange.trustedIssuer = gate.issuer;

  const callers: Caller[] = [];
  await inParallel(names.length, LOGINS_AT_ONCE, async (n) => {
    // Everybody from an address of his own: many logins from one are slowed down.
    callers[n] = await gate.login(names[n] as string, { from: `127.0.1.${n + 1}` });
  });

  const sees: Readonly<Record<string, (caller: Caller, token: string) => boolean>> = {
    code: ({ user }, token) => token === hub.accessTokenOf(user),
    tickets: ({ user }, token) => exchange.userOf(token) === user,
    files: (caller, token) => exchange.userOf(token) === subjectOf(caller),
  };
  const backends = Object.keys(sees);
  let crossings = 0;
  const began = performance.now();
  await inParallel(sizes.calls, AT_ONCE, async () => {
    const caller = pick(callers);
    const backend = pick(backends);
    const { authorization = '' } = await caller.seenBy(backend);
    if (!sees[backend]?.(caller, authorization.replace('Bearer ', ''))) crossings += 1;
  });
  const seconds = (performance.now() - began) / 1000;

  const shown = [code, tickets, files].flatMap(({ seen }) => seen.map(({ headers }) => headers.authorization));
  assert.ok(shown.length > sizes.calls, 'every call reached a backend');
  const own = new Set(callers.map(({ accessToken }) => `Bearer ${accessToken}`));
  assert.equal(shown.filter((header) => own.has(header ?? '')).length, 0, 'no token of a client reached a backend');
  assert.equal(crossings, 0, 'no call showed a backend the token of another user');
  return {
    ...sizes,
    crossings,
    exchanges: exchange.exchanges.length,
    callsPerSecond: Math.round(sizes.calls / seconds),
  };
}

function personOf(name: string): TestUser {
  return { name, email: `${name}@example.test`, emailVerified: true };
}

function subjectOf({ accessToken }: Caller): string {
  return JSON.parse(Buffer.from(accessToken.split('.')[1] ?? '', 'base64url').toString()).sub;
}

function pick<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)] as T;
}

/** Does the work so many times, a few at once. */
async function inParallel(count: number, atOnce: number, work: (n: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
