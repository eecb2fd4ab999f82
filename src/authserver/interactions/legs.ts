import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Leg, Redeemed } from '../../oauth/upstream/index.ts';
import { INTERACTION } from '../library/lifetimes.ts';
import type { Connections } from './connections.ts';
import { BUSY, OTHER_BROWSER, STALE } from './dead-ends.ts';
import type { Desk } from './desk.ts';
import { failureOf, TOO_OFTEN } from './failures.ts';
import { type Flow, isSameFlow, randomValue, STEP } from './flow.ts';
import { redirect } from './http.ts';

/** A browser that was sent to a provider. The key is the `state` it has to come back with, once. */
interface PendingLeg {
  readonly uid: string;
  /** Tells the flow from one that has begun in its place. */
  readonly grantId: string;
  readonly provider: string;
  /** Its place in the chain. */
  readonly place: number;
  readonly leg: Leg;
}

export interface Legs {
  depart(request: IncomingMessage, response: ServerResponse, uid: string): Promise<void>;
  /** Back from a provider. */
  comeBack(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void>;
}

const MOST_DEPARTURES = 20;
/** Longer than a provider can take for all it is asked at once. */
const BUSY_FOR = 60_000;

export function createLegs(desk: Desk, connections: Connections): Legs {
  const { paths, flows, cookies, vault, upstreams, now } = desk;
  const pendings = desk.records.rows<PendingLeg>('login-leg');

  async function depart(request: IncomingMessage, response: ServerResponse, uid: string): Promise<void> {
    const flow = await desk.admit(request, response, uid);
    if (!flow) return;
    const provider = flow.chain[flow.connected];
    if (flow.kind === 'login' && !flow.consented) return redirect(response, paths.arrival(uid));
    if (flow.failure || provider === undefined) return redirect(response, paths.finish(uid));
    const counted = await flows.update(flow, (current) => ({ ...current, departures: current.departures + 1 }));
    if (!counted) return desk.showDeadEnd(response, STALE, { flow: flow.tag });
    if (counted.departures > MOST_DEPARTURES) return await desk.fail(response, counted, TOO_OFTEN);
    try {
      const upstream = upstreams.get(provider);
      if (!upstream) throw new Error(`the provider ${provider} is not configured any more`);
      const { url, leg } = await upstream.begin(randomValue(), paths.callbackUrl);
      const pending = { uid, grantId: flow.grantId, provider, place: flow.connected, leg };
      await pendings.put(leg.state, pending, { ttl: STEP, groups: [flows.group(uid)] });
      redirect(response, url.href);
    } catch (error) {
      await desk.fail(response, counted, failureOf(provider, error), { provider, error });
    }
  }

  async function comeBack(request: IncomingMessage, response: ServerResponse, query: URLSearchParams): Promise<void> {
    const [state, second] = query.getAll('state');
    const pending = state === undefined || second !== undefined ? undefined : await pendings.take(state);
    const flow = pending && (await flows.find(pending.uid));
    if (!pending || !flow || !isSameFlow(flow, pending)) return desk.showDeadEnd(response, STALE);
    if (!cookies.holds(request, flow)) return await endForeign(response, flow, pending);
    // A second window, or the way back and forth again: the step is done, and the code is not needed.
    if (flow.failure || flow.connected !== pending.place) return desk.leadOn(response, flow);

    const claimed = await flows.update(flow, (current) => claim(current, pending.place));
    if (!claimed) return desk.showDeadEnd(response, BUSY, { flow: flow.tag });
    try {
      const upstream = upstreams.get(pending.provider);
      if (!upstream) throw new Error(`the provider ${pending.provider} is not configured any more`);
      const advanced = await keep(claimed, pending, await upstream.redeem(query, pending.leg));
      if (!advanced) return desk.showDeadEnd(response, STALE, { flow: flow.tag });
      desk.leadOn(response, advanced);
    } catch (error) {
      const { provider } = pending;
      await desk.fail(response, claimed, failureOf(provider, error), { provider, error });
    }
  }

  /** Of several windows that come back with the same step, one goes on: two could have logged in as two people. */
  function claim(flow: Flow, place: number): Flow | undefined {
    const isBusy = flow.busyUntil !== undefined && flow.busyUntil > now();
    if (isBusy || flow.failure || flow.connected !== place) return undefined;
    return { ...flow, busyUntil: now() + BUSY_FOR };
  }

  /** The tokens are in the vault before the flow moves on. */
  async function keep(flow: Flow, pending: PendingLeg, { tokens, identity }: Redeemed): Promise<Flow | undefined> {
    const { provider, place } = pending;
    if (flow.kind === 'connection' && place === 0) await connections.checkUser(flow, provider, tokens.source, identity);
    const entries = vault.of(flow.grantId);
    const account = identity.email ?? identity.name;
    const entry = { ...tokens, subject: identity.subject, ...(account === undefined ? {} : { account }) };
    if (flow.kind !== 'account') await entries.deposit(provider, entry, INTERACTION);
    const advanced = await flows.update(flow, (current) => {
      const { busyUntil, ...rest } = current;
      if (busyUntil !== flow.busyUntil || current.failure) return undefined;
      const who = place === 0 ? { identity: { ...identity, provider, source: tokens.source } } : {};
      return { ...rest, ...who, connected: place + 1 };
    });
    // It was ended meanwhile, in another window: what came too late goes too.
    if (!advanced) await entries.clear();
    else desk.audit('auth.leg.completed', flow, { provider, place: place + 1, of: flow.chain.length });
    return advanced;
  }

  /** Rows 14 and W-2: the code is not redeemed, and neither the one who began nor his client hears of it. */
  async function endForeign(response: ServerResponse, flow: Flow, { provider }: PendingLeg): Promise<void> {
    await vault.of(flow.grantId).clear();
    await flows.remove(flow.uid);
    desk.audit('auth.failed', flow, { provider, reason: 'came back in another browser' }, 'warn');
    desk.showDeadEnd(response, OTHER_BROWSER, { flow: flow.tag });
  }

  return { depart, comeBack };
}
