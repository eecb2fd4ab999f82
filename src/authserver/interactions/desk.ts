import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Interaction, Provider } from 'oidc-provider';
import type { Log, LogFields } from '../../base/index.ts';
import type { Upstream } from '../../oauth/upstream/index.ts';
import type { AuthServerPlan, UpstreamPlan } from '../../plan/index.ts';
import type { LoginRecord, Logins } from '../logins.ts';
import {
  type ClientView,
  type ErrorModel,
  errorPage,
  type ProviderView,
  progressPage,
  sendPage,
} from '../pages/index.ts';
import type { ServerSecrets } from '../secrets.ts';
import type { Records } from '../storage/records.ts';
import type { Users } from '../users.ts';
import type { Uses } from '../uses.ts';
import type { Disconnect, Vault } from '../vault/index.ts';
import { createLoginCookies, type LoginCookies } from './cookies.ts';
import { type DeadEnd, STALE } from './dead-ends.ts';
import type { Failure } from './failures.ts';
import { createFlows, type Flow, type Flows, isOver } from './flow.ts';
import { redirect } from './http.ts';
import { createLoginPaths, type LoginPaths } from './paths.ts';

export interface InteractionParts {
  readonly plan: AuthServerPlan;
  readonly provider: Provider;
  readonly records: Records;
  readonly secrets: ServerSecrets;
  readonly vault: Vault;
  readonly users: Users;
  readonly logins: Logins;
  readonly uses: Uses;
  /** By name. */
  readonly upstreams: ReadonlyMap<string, Upstream>;
  /** Ends a login with everything that came of it. `by` goes to the log. */
  readonly endLogin: (login: LoginRecord, by: string) => Promise<void>;
  readonly disconnect: Disconnect;
  readonly log: Log;
  /** Milliseconds since 1970. */
  readonly now: () => number;
}

export type AuditEvent = 'auth.started' | 'auth.leg.completed' | 'auth.completed' | 'auth.failed' | 'account.opened';

/** What every step of a login needs: its parts, and the ways to answer when a step does not lead on. */
export interface Desk extends InteractionParts {
  readonly paths: LoginPaths;
  readonly flows: Flows;
  readonly cookies: LoginCookies;
  /** The flow of this browser, if its cookies show that it is. Otherwise a page was shown. */
  admit(request: IncomingMessage, response: ServerResponse, uid: string): Promise<Flow | undefined>;
  /** The library's own record of the login, for the browser that holds its cookie. */
  interactionOf(request: IncomingMessage, response: ServerResponse, uid: string): Promise<Interaction | undefined>;
  /** Says so in the log too, with the id that the page shows. */
  showDeadEnd(response: ServerResponse, deadEnd: DeadEnd, fields?: LogFields): void;
  /** On to the next step: a page that tells how far the login has come, or back to the client. For GET requests only. */
  leadOn(response: ServerResponse, flow: Flow): void;
  /** Ends a flow: nothing of it stays but what the client has to be told. */
  end(flow: Flow, failure: Failure, fields?: LogFields): Promise<string>;
  /** Ends a flow with a page, which leads back to the client of a login. */
  fail(response: ServerResponse, flow: Flow, failure: Failure, fields?: LogFields): Promise<void>;
  audit(event: AuditEvent, flow: Flow, fields?: LogFields, level?: 'info' | 'warn'): void;
  providersOf(flow: Flow): readonly ProviderView[];
  viewOf(provider: string): ProviderView;
  clientOf(id: string): Promise<ClientView>;
  /** The providers that every login visits. The first of them says who the user is. */
  readonly chain: readonly [string, ...string[]];
}

/** Time to read why, for a user whose client is waiting. */
const READ_WHY = 10;

export function createDesk(parts: InteractionParts): Desk {
  const { plan, provider, records, vault, log, now } = parts;
  const paths = createLoginPaths(plan.issuer);
  const flows = createFlows(records, now);
  const cookies = createLoginCookies(plan.issuer);
  const views = new Map(plan.providers.map((upstream) => [upstream.name, providerView(upstream)]));

  async function interactionOf(
    request: IncomingMessage,
    response: ServerResponse,
    uid: string,
  ): Promise<Interaction | undefined> {
    try {
      const interaction = await provider.interactionDetails(request, response);
      return interaction.uid === uid ? interaction : undefined;
    } catch (error) {
      // The library's way to say that there is no cookie, or nothing behind it.
      if ((error as Error).name === 'SessionNotFound') return undefined;
      throw error;
    }
  }

  function audit(
    event: AuditEvent,
    { tag, client }: Flow,
    fields: LogFields = {},
    level: 'info' | 'warn' = 'info',
  ): void {
    log[level](event, { server: plan.name, flow: tag, client: client.id, ...fields });
  }

  function showDeadEnd(response: ServerResponse, deadEnd: DeadEnd, fields = {}): void {
    const incident = newIncident();
    log.info('login led to a dead end', { incident, page: deadEnd.page.title, ...fields });
    sendPage(response, deadEnd.status, errorPage({ ...deadEnd.page, incident }));
  }

  async function end(flow: Flow, failure: Failure, fields = {}): Promise<string> {
    const incident = newIncident();
    const { reason, isOurs } = failure;
    audit('auth.failed', flow, { incident, reason, connected: flow.connected, ...fields }, isOurs ? 'warn' : 'info');
    await vault.of(flow.grantId).clear();
    const current = await flows.find(flow.uid);
    // Another window has begun anew in its place: that one is not ours to end.
    if (current && current.grantId !== flow.grantId) return incident;
    await flows.remove(flow.uid);
    const { identity: _identity, busyUntil: _busyUntil, ...rest } = flow;
    if (rest.kind === 'login') await flows.begin({ ...rest, failure: failure.client });
    return incident;
  }

  const viewOf = (name: string): ProviderView => views.get(name) ?? { name, host: '', backends: [] };
  const providersOf = ({ chain }: Flow): readonly ProviderView[] => chain.map(viewOf);

  async function clientOf(id: string): Promise<ClientView> {
    const name = (await provider.Client.find(id))?.clientName;
    // The address of a metadata document: its host has vouched for what the document says.
    const host = id.startsWith('https://') && URL.canParse(id) ? new URL(id).host : undefined;
    return { id, ...(name ? { name } : {}), ...(host === undefined ? {} : { verifiedHost: host }) };
  }

  /** A client is waiting for the end of a login; the page of connections waits for nobody. */
  function wayOn(flow: Flow): Partial<ErrorModel> {
    switch (flow.kind) {
      case 'login':
        return { continueTo: paths.finish(flow.uid), label: 'Back to the application', seconds: READ_WHY };
      case 'account':
        return { continueTo: paths.connections, label: 'Try again', advice: 'Nothing was stored or changed.' };
      case 'connection':
        return flow.fromAccount ? { continueTo: paths.connections, label: 'Back to your connections' } : {};
    }
  }

  return {
    ...parts,
    chain: chainOf(plan),
    clientOf,
    paths,
    flows,
    cookies,
    interactionOf,
    showDeadEnd,
    end,
    audit,
    providersOf,
    viewOf,
    async admit(request, response, uid) {
      const flow = await flows.find(uid);
      const isKnown = flow !== undefined && cookies.holds(request, flow);
      // Of a login the library keeps a record too, with a cookie of its own.
      if (isKnown && (flow.kind !== 'login' || (await interactionOf(request, response, uid)))) return flow;
      showDeadEnd(response, STALE, flow ? { flow: flow.tag } : {});
      return undefined;
    },
    leadOn(response, flow) {
      const { uid, client, connected } = flow;
      if (isOver(flow)) return redirect(response, paths.finish(uid));
      const continueTo = paths.departure(uid);
      sendPage(response, 200, progressPage({ client, providers: providersOf(flow), connected, continueTo }));
    },
    async fail(response, flow, failure, fields) {
      const incident = await end(flow, failure, fields);
      sendPage(response, failure.status, errorPage({ ...failure.page, incident, ...wayOn(flow) }));
    },
  };
}

/** Who logs in has to be somebody: where no provider is required, it is the first one all the same. */
function chainOf({ providers }: AuthServerPlan): readonly [string, ...string[]] {
  const [first, ...others] = providers.filter(({ required }) => required).map(({ name }) => name);
  return first === undefined ? [providers[0].name] : [first, ...others];
}

/** Under this id the log knows more. Short enough to be read out. */
export function newIncident(): string {
  return randomBytes(5).toString('hex');
}

function providerView({ name, backends, endpoints }: UpstreamPlan): ProviderView {
  const address = endpoints.kind === 'oidc' ? endpoints.issuer : endpoints.authorizationEndpoint;
  return { name, host: new URL(address).host, backends };
}
