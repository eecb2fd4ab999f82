import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { SallyError } from '../../base/index.ts';
import type { TokenSource, UpstreamIdentity } from '../../oauth/upstream/index.ts';
import { nameOfGrant } from '../library/audit.ts';
import { donePage, leadOnPage, sendPage } from '../pages/index.ts';
import { STALE } from './dead-ends.ts';
import type { Desk } from './desk.ts';
import { OtherUserError } from './failures.ts';
import { type ConnectionFlow, randomValue } from './flow.ts';

export interface Connections {
  start(grantId: string, provider: string, fromAccount?: boolean): Promise<string | undefined>;
  arrive(request: IncomingMessage, response: ServerResponse, flow: ConnectionFlow): Promise<void>;
  /** Throws when the one who logged in at the first provider is not the user of the grant. */
  checkUser(flow: ConnectionFlow, provider: string, source: TokenSource, identity: UpstreamIdentity): Promise<void>;
  complete(response: ServerResponse, flow: ConnectionFlow): Promise<void>;
}

/**
 * One more provider for a login that stands. A link to it can be forwarded: so the browser first logs in where every login
 * begins, and goes on only as the user of the grant. Otherwise one user could collect the tokens of another.
 */
export function createConnections(desk: Desk): Connections {
  const { plan, provider: library, chain, paths, flows, cookies, users, vault, now } = desk;

  async function start(grantId: string, provider: string, fromAccount = false): Promise<string | undefined> {
    if (!plan.providers.some(({ name }) => name === provider)) {
      throw new SallyError('internal.bug', `there is no provider ${provider} to connect`);
    }
    const { clientId, accountId } = (await library.Grant.find(grantId)) ?? {};
    // The user of one token only cannot show again that it is him.
    if (clientId === undefined || accountId === undefined || accountId.startsWith('tk-')) return undefined;
    const uid = randomValue();
    await flows.begin({
      kind: 'connection',
      uid,
      tag: randomBytes(6).toString('hex'),
      grantId: randomValue(),
      target: { grantId, owner: { clientId, userId: accountId } },
      fromAccount,
      client: await desk.clientOf(clientId),
      chain: [...new Set([chain[0], provider])],
      startedAt: Math.floor(now() / 1000),
      connected: 0,
      departures: 0,
    });
    return new URL(paths.arrival(uid), plan.issuer).href;
  }

  return {
    start,

    /** The first browser that comes is the one that stays. */
    async arrive(request, response, flow) {
      if (cookies.holds(request, flow)) return desk.leadOn(response, flow);
      if (flow.cookie !== undefined) return desk.showDeadEnd(response, STALE, { flow: flow.tag });
      const cookie = cookies.begin(request, response, flow.tag, flow.startedAt);
      const bound = await flows.update(flow, (current) => (current.cookie ? undefined : { ...current, cookie }));
      if (!bound) return desk.showDeadEnd(response, STALE, { flow: flow.tag });
      desk.audit('auth.started', flow, { providers: flow.chain, grant: nameOfGrant(flow.target.grantId) });
      desk.leadOn(response, bound);
    },

    async checkUser({ target }, provider, source, identity) {
      const user = await users.recognise(provider, source, identity);
      if (user !== target.owner.userId) throw new OtherUserError('the login is of another user');
    },

    async complete(response, flow) {
      const { grantId, owner } = flow.target;
      const provider = flow.chain.at(-1) ?? '';
      const grant = await library.Grant.find(grantId);
      if (!grant) throw new Error('the grant ended while a provider was connected to it');
      await vault.of(flow.grantId).handOver(provider, grantId, owner, grant.remainingTTL);
      await vault.of(flow.grantId).clear();
      cookies.end(response, flow);
      desk.audit('auth.completed', flow, { user: owner.userId, providers: flow.chain, grant: nameOfGrant(grantId) });
      const title = `${provider} connected`;
      const back = { message: 'On to your connections.', continueTo: paths.connections, label: 'Your connections' };
      const page = flow.fromAccount
        ? leadOnPage({ title, ...back })
        : donePage({ title, message: 'You can close this window and go back to the application.' });
      sendPage(response, 200, page);
    },
  };
}
