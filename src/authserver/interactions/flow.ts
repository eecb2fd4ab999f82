import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { TokenSource, UpstreamIdentity } from '../../oauth/upstream/index.ts';
import { INTERACTION } from '../library/lifetimes.ts';
import type { ClientView } from '../pages/index.ts';
import type { Records, RowGroup } from '../storage/records.ts';
import type { Owner } from '../vault/index.ts';

/** One browser on its way through the providers. */
export type Flow = LoginFlow | ConnectionFlow | AccountFlow;

/** The way of a client's user to a new grant. Its `uid` is that of the library's interaction. */
export interface LoginFlow extends Journey {
  readonly kind: 'login';
  /** The value that only our own form sends. */
  readonly csrf: string;
  readonly redirectUri: string;
  readonly resource: string;
  readonly scopes: readonly string[];
  readonly consented: boolean;
}

/** One more provider for a login that stands. The first visit shows that it is the same user; the last one is what it is for. */
export interface ConnectionFlow extends Journey {
  readonly kind: 'connection';
  /** The grant that the last provider's tokens are for. */
  readonly target: { readonly grantId: string; readonly owner: Owner };
  /** It began on the page of the user's connections, and leads back there. */
  readonly fromAccount: boolean;
}

/** The way to the page of one's own connections: who it is, and nothing more. No client hears of it, and no token is kept. */
export interface AccountFlow extends Journey {
  readonly kind: 'account';
}

interface Journey {
  readonly uid: string;
  /** Names its cookie and its lines in the log. Not a secret. */
  readonly tag: string;
  /** Hash of the cookie that the browser got when it began; absent until a browser has. */
  readonly cookie?: string;
  /** Chosen before the first leg, so that what the legs bring belongs to it from the start. Nobody else knows it yet. */
  readonly grantId: string;
  readonly client: ClientView;
  /** Names of the providers, in the order of the visits. */
  readonly chain: readonly string[];
  /** Seconds since 1970. */
  readonly startedAt: number;
  /** How many providers of the chain are connected. */
  readonly connected: number;
  /** How often the browser was sent to a provider. */
  readonly departures: number;
  /** A leg is being redeemed: until then nobody else may. Milliseconds since 1970. */
  readonly busyUntil?: number;
  /** Who the first provider says it is. */
  readonly identity?: FlowIdentity;
  /** It is over, and nothing of it is left; the client has still to be told. */
  readonly failure?: FlowFailure;
}

export interface FlowIdentity extends UpstreamIdentity {
  readonly provider: string;
  readonly source: TokenSource;
}

/** An OAuth error with a description of our own (RFC 6749 §4.1.2.1). */
export interface FlowFailure {
  readonly error: 'access_denied' | 'temporarily_unavailable' | 'server_error';
  readonly description: string;
}

/** From the last step. The whole of it takes no longer than the library's interaction. */
export const STEP = 10 * 60;

export interface Flows {
  find(uid: string): Promise<Flow | undefined>;
  /** Begins a flow, in place of whatever was there. */
  begin(flow: Flow): Promise<void>;
  /**
   * Changes a flow that was seen, as it is now. `change` may refuse by giving `undefined`; then, and when it is gone, so does
   * this. A flow that has begun in its place is another one: it may belong to another browser.
   */
  update(seen: Flow, change: (flow: Flow) => Flow | undefined): Promise<Flow | undefined>;
  /** Of several who want to end a flow that they have seen, one gets it. */
  take(seen: Flow): Promise<Flow | undefined>;
  /** Everything that belongs to the flow goes, its open legs too. */
  remove(uid: string): Promise<void>;
  group(uid: string): RowGroup;
}

const ATTEMPTS = 5;

export function createFlows(records: Records, now: () => number): Flows {
  const rows = records.rows<Flow>('login-flow');
  const group = (uid: string): RowGroup => records.group('login-flow', uid);
  const options = ({ uid, startedAt }: Flow) => {
    const left = startedAt + INTERACTION - Math.floor(now() / 1000);
    return { ttl: Math.max(1, Math.min(STEP, left)), groups: [group(uid)] };
  };
  return {
    find: (uid) => rows.get(uid),
    begin: (flow) => rows.put(flow.uid, flow, options(flow)),
    async update(seen, change) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const found = await rows.find(seen.uid);
        const changed = found && isSameFlow(found.value, seen) ? change(found.value) : undefined;
        if (!found || !changed) return undefined;
        if (await rows.swap(found.version, changed, options(changed))) return changed;
      }
      return undefined;
    },
    async take(seen) {
      const flow = await rows.take(seen.uid);
      return flow && isSameFlow(flow, seen) ? flow : undefined;
    },
    async remove(uid) {
      await rows.remove(uid);
      await records.removeGroup(group(uid));
    },
    group,
  };
}

/** The same interaction of the library can begin anew; the grant that it is for never does. */
export function isSameFlow(one: Pick<Flow, 'grantId'>, other: Pick<Flow, 'grantId'>): boolean {
  return one.grantId === other.grantId;
}

/** No provider is left to be visited: it failed, or all are connected. */
export function isOver({ failure, connected, chain }: Flow): boolean {
  return failure !== undefined || connected >= chain.length;
}

export function randomValue(): string {
  return randomBytes(32).toString('base64url');
}

export function hashOf(value: string): string {
  return createHash('sha256').update(value).digest('base64url');
}

/** Compares without telling by its time how much was right. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(Buffer.from(hashOf(one)), Buffer.from(hashOf(other)));
}
