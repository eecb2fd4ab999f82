import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Interaction } from 'oidc-provider';
import { consentPage, leadOnPage, sendPage } from '../pages/index.ts';
import { FORM_OUT_OF_DATE, STALE } from './dead-ends.ts';
import type { Desk } from './desk.ts';
import { DENIED } from './failures.ts';
import { type Flow, isSame, type LoginFlow, randomValue } from './flow.ts';
import { readForm, redirect } from './http.ts';
import { createRememberedConsent } from './remembered.ts';

export interface Arrival {
  arrive(request: IncomingMessage, response: ServerResponse, uid: string): Promise<void>;
  /** The answer of the consent page. */
  decide(request: IncomingMessage, response: ServerResponse, uid: string): Promise<void>;
}

/** The first steps of a login: who is asking, and whether the user wants that. No provider is involved before he does. */
export function createArrival(desk: Desk): Arrival {
  const { plan, chain, paths, flows, cookies, vault, log, now } = desk;
  const remembered = createRememberedConsent(cookies, desk.secrets, now);
  const known = new Set(plan.clients.map(({ id }) => id));

  if (plan.consent === 'skip') {
    log.warn('clients are let in without asking the user, which is for development only', { server: plan.name });
  }

  async function begin(
    request: IncomingMessage,
    response: ServerResponse,
    interaction: Interaction,
  ): Promise<LoginFlow> {
    const { client_id, redirect_uri, resource, scope } = interaction.params;
    const tag = randomBytes(6).toString('hex');
    const startedAt = Math.floor(now() / 1000);
    const flow: LoginFlow = {
      kind: 'login',
      uid: interaction.uid,
      tag,
      cookie: cookies.begin(request, response, tag, startedAt),
      csrf: randomValue(),
      grantId: randomValue(),
      client: await desk.clientOf(String(client_id)),
      redirectUri: String(redirect_uri),
      resource: typeof resource === 'string' ? resource : plan.resources[0],
      scopes: typeof scope === 'string' ? scope.split(' ').filter((one) => one !== '') : [],
      chain,
      startedAt,
      consented: false,
      connected: 0,
      departures: 0,
    };
    await flows.begin(flow);
    desk.audit('auth.started', flow, { resource: flow.resource, providers: chain });
    return flow;
  }

  function needsConsent(request: IncomingMessage, flow: LoginFlow): boolean {
    if (plan.consent === 'skip' || known.has(flow.client.id)) return false;
    return plan.consent === 'always' || !remembered.has(request, flow);
  }

  function showConsent(response: ServerResponse, flow: LoginFlow): void {
    const { uid, client, redirectUri, resource, scopes, csrf } = flow;
    const providers = desk.providersOf(flow);
    const action = paths.consent(uid);
    sendPage(response, 200, consentPage({ client, redirectUri, resource, scopes, providers, action, csrf }));
  }

  return {
    async arrive(request, response, uid) {
      const interaction = await desk.interactionOf(request, response, uid);
      const before = await flows.find(uid);
      if (!interaction || (before && before.kind !== 'login'))
        return desk.showDeadEnd(response, STALE, { flow: before?.tag });
      const isHere = before !== undefined && cookies.holds(request, before);
      if (isHere && (before.consented || before.failure)) return desk.leadOn(response, before);
      if (isHere) return showConsent(response, before);
      // The library knows this browser, but our cookie is gone: what was done so far may not be continued.
      if (before) {
        await vault.of(before.grantId).clear();
        await flows.remove(uid);
      }
      const flow = await begin(request, response, interaction);
      if (needsConsent(request, flow)) return showConsent(response, flow);
      await flows.update(flow, agree);
      redirect(response, paths.departure(uid));
    },

    async decide(request, response, uid) {
      const flow = await desk.admit(request, response, uid);
      if (!flow) return;
      if (flow.kind !== 'login') return desk.showDeadEnd(response, STALE, { flow: flow.tag });
      const form = await readForm(request);
      const decision = form?.get('decision');
      if (!isSame(form?.get('csrf') ?? '', flow.csrf) || (decision !== 'allow' && decision !== 'deny')) {
        return desk.showDeadEnd(response, FORM_OUT_OF_DATE, { flow: flow.tag });
      }
      if (decision === 'deny') {
        await desk.end(flow, DENIED);
        const { title, message } = DENIED.page;
        const way = { continueTo: paths.finish(uid), label: 'Back to the application' };
        return sendPage(response, 200, leadOnPage({ title, message, ...way }));
      }
      const agreed = await flows.update(flow, agree);
      if (!agreed) return desk.showDeadEnd(response, STALE, { flow: flow.tag });
      if (plan.consent === 'remember') remembered.add(request, response, flow);
      const next = agreed.chain[agreed.connected] ?? 'the application';
      sendPage(
        response,
        200,
        leadOnPage({
          title: `On to ${next}`,
          message: `You are sent to ${next} to log in.`,
          continueTo: paths.departure(uid),
          label: `Continue to ${next}`,
        }),
      );
    },
  };
}

function agree(flow: Flow): Flow | undefined {
  return flow.kind === 'login' && !flow.failure ? { ...flow, consented: true } : undefined;
}
