import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Connections } from '../interactions/connections.ts';
import { FORM_OUT_OF_DATE } from '../interactions/dead-ends.ts';
import type { Desk } from '../interactions/desk.ts';
import { type AccountFlow, isSame, randomValue } from '../interactions/flow.ts';
import { readForm, redirect } from '../interactions/http.ts';
import { nameOfGrant } from '../library/audit.ts';
import type { LoginRecord } from '../logins.ts';
import { connectionsPage, donePage, type LoginView, leadOnPage, sendPage } from '../pages/index.ts';
import { NOTICES, type Notice } from './notices.ts';
import { connectionsOf } from './overview.ts';
import { createVisits, type Visit } from './visit.ts';

export interface Account {
  show(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** What the forms of the page ask for. */
  act(request: IncomingMessage, response: ServerResponse): Promise<void>;
  /** The browser has come back from the first provider. */
  open(response: ServerResponse, flow: AccountFlow): Promise<void>;
}

/** More are on the next page. */
const ON_ONE_PAGE = 20;

export function createAccount(desk: Desk, connections: Pick<Connections, 'start'>): Account {
  const { plan, chain, paths, flows, cookies, users, logins, uses, now } = desk;
  const visits = createVisits(cookies, desk.secrets, now);
  const [first] = chain;

  /** The same leg to the first provider as a login, with the same ties to this browser. There is no client that gets anything. */
  async function begin(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const tag = randomBytes(6).toString('hex');
    const startedAt = Math.floor(now() / 1000);
    const flow: AccountFlow = {
      kind: 'account',
      uid: randomValue(),
      tag,
      cookie: cookies.begin(request, response, tag, startedAt),
      grantId: randomValue(),
      client: { id: 'the page of connections' },
      chain: [first],
      startedAt,
      connected: 0,
      departures: 0,
    };
    await flows.begin(flow);
    const message = `You are sent to ${first} to show who you are.`;
    const way = { continueTo: paths.departure(flow.uid), label: `Continue to ${first}` };
    sendPage(response, 200, leadOnPage({ title: 'Your connections', message, ...way }));
  }

  async function viewOf(login: LoginRecord): Promise<LoginView> {
    const current = uses.upToDate(login);
    const { grantId, client, since, until, use } = current;
    const found = await connectionsOf(current, desk);
    return {
      id: nameOfGrant(grantId),
      client,
      since,
      until,
      ...(use.at === undefined ? {} : { usedAt: use.at }),
      connections: found.map(({ provider, ...connection }) => ({ ...connection, ...desk.viewOf(provider.name) })),
    };
  }

  async function ownLogins({ userId }: Visit): Promise<readonly LoginRecord[]> {
    return userId === undefined ? [] : await logins.of(userId);
  }

  function back(response: ServerResponse, visit: Visit, notice: Notice): void {
    visits.tell(response, visit, notice);
    redirect(response, paths.connections);
  }

  async function carryOut(response: ServerResponse, visit: Visit, form: ReadonlyMap<string, string>): Promise<void> {
    const login = (await ownLogins(visit)).find(({ grantId }) => nameOfGrant(grantId) === form.get('login'));
    if (!login) return back(response, visit, 'gone');
    const action = form.get('do');
    if (action === 'end') {
      await desk.endLogin(login, 'its user');
      return back(response, visit, 'ended');
    }
    const provider = form.get('provider') ?? '';
    if (!plan.providers.some(({ name }) => name === provider)) return back(response, visit, 'unchanged');
    if (action === 'disconnect') {
      await desk.disconnect(login, provider, 'its user');
      return back(response, visit, 'disconnected');
    }
    const address = action === 'connect' ? await connections.start(login.grantId, provider, true) : undefined;
    if (address === undefined) return back(response, visit, action === 'connect' ? 'gone' : 'unchanged');
    redirect(response, new URL(address).pathname);
  }

  return {
    async show(request, response) {
      const visit = visits.find(request);
      if (!visit && isFromElsewhere(request)) {
        // A link of another site does not bring the cookie along; one of ours does.
        const here = { continueTo: paths.connections, label: 'Continue' };
        return sendPage(response, 200, leadOnPage({ title: 'Your connections', message: 'One moment.', ...here }));
      }
      if (!visit) return await begin(request, response);
      if (visit.notice) visits.tell(response, visit, undefined);
      const all = await ownLogins(visit);
      const from = pageStart(request, all.length);
      sendPage(
        response,
        200,
        connectionsPage({
          name: visit.name,
          resource: plan.resources[0],
          logins: await Promise.all(all.slice(from, from + ON_ONE_PAGE).map(viewOf)),
          notice: visit.notice && NOTICES[visit.notice],
          newer: from > 0 ? `${paths.connections}?from=${Math.max(0, from - ON_ONE_PAGE)}` : undefined,
          older: from + ON_ONE_PAGE < all.length ? `${paths.connections}?from=${from + ON_ONE_PAGE}` : undefined,
          action: paths.connections,
          csrf: visit.csrf,
          now: Math.floor(now() / 1000),
        }),
      );
    },

    async act(request, response) {
      const visit = visits.find(request);
      if (!visit) {
        const title = 'You have to log in again';
        const message = 'A visit to this page ends after 15 minutes. Nothing was changed.';
        const way = { continueTo: paths.connections, label: 'Log in again' };
        return sendPage(response, 403, leadOnPage({ title, message, ...way }));
      }
      const form = await readForm(request);
      if (!form || !isSame(form.get('csrf') ?? '', visit.csrf)) return desk.showDeadEnd(response, FORM_OUT_OF_DATE);
      if (form.get('do') !== 'leave') return await carryOut(response, visit, form);
      visits.end(response);
      const message = 'This browser has no access to the page of your connections any more.';
      sendPage(response, 200, donePage({ title: 'You have left', message }));
    },

    async open(response, flow) {
      const { identity } = flow;
      if (!identity) throw new Error('a visit has no user');
      cookies.end(response, flow);
      if (identity.synthetic) {
        const message = `${first} does not tell who its users are, so your logins cannot be found from here.`;
        return sendPage(response, 200, donePage({ title: 'Nobody can be recognised', message }));
      }
      const userId = await users.recognise(identity.provider, identity.source, identity);
      visits.begin(response, userId, identity.name ?? identity.email);
      desk.audit('account.opened', flow, { user: userId });
      const way = { continueTo: paths.connections, label: 'Your connections' };
      sendPage(response, 200, leadOnPage({ title: `${first} connected`, message: 'On to your connections.', ...way }));
    },
  };
}

function isFromElsewhere({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === 'cross-site' || site === 'same-site';
}

function pageStart({ url = '' }: IncomingMessage, count: number): number {
  const asked = Number(new URL(url, 'http://page.invalid').searchParams.get('from'));
  return Number.isSafeInteger(asked) && asked > 0 && asked < count ? asked : 0;
}
