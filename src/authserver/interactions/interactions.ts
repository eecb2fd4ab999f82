import type { IncomingMessage, ServerResponse } from 'node:http';
import { codeOf } from '../../base/index.ts';
import { createAccount } from '../account/index.ts';
import type { PageRoute } from '../edge/throttle.ts';
import { errorPage, sendPage } from '../pages/index.ts';
import { createArrival } from './arrival.ts';
import { createConnections } from './connections.ts';
import { BROKEN, STALE, STORE_AWAY, WRONG_METHOD } from './dead-ends.ts';
import { createDesk, type InteractionParts, newIncident } from './desk.ts';
import { createFinish } from './finish.ts';
import { createLegs } from './legs.ts';
import { createLoginPaths, type Step } from './paths.ts';

export interface Interactions {
  readonly routes: readonly PageRoute[];
  /**
   * The address at which the user of a grant connects one more provider to it, or the same one anew; `undefined` when the grant
   * is over or its user cannot be recognised. Whoever else opens it gets nowhere, so it may be shown in the open.
   */
  startConnection(grantId: string, provider: string): Promise<string | undefined>;
}

/** Where the library sends a browser for an interaction, as a path. */
export function interactionUrl(issuer: string, uid: string): string {
  return createLoginPaths(issuer).arrival(uid);
}

type Answer = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** One login is one interaction of the library: consent, then the providers in their order, then back to the client. */
export function createInteractions(parts: InteractionParts): Interactions {
  const desk = createDesk(parts);
  const arrival = createArrival(desk);
  const connections = createConnections(desk);
  const legs = createLegs(desk, connections);
  const account = createAccount(desk, connections);
  const finish = createFinish(desk, connections, account);
  const { paths, log } = desk;

  const STEPS = {
    arrival: { method: 'GET', answer: arrive },
    consent: { method: 'POST', answer: arrival.decide },
    departure: { method: 'GET', answer: legs.depart },
    finish: { method: 'GET', answer: finish },
  } as const satisfies Record<Step, unknown>;

  async function arrive(request: IncomingMessage, response: ServerResponse, uid: string): Promise<void> {
    const flow = await desk.flows.find(uid);
    if (flow?.kind === 'connection') return await connections.arrive(request, response, flow);
    return await arrival.arrive(request, response, uid);
  }

  const interaction: Answer = (request, response) => {
    const found = paths.parse(urlOf(request).pathname);
    if (!found) return desk.showDeadEnd(response, STALE);
    const { method, answer } = STEPS[found.step];
    if (request.method !== method) return refuseMethod(response, method);
    return answer(request, response, found.uid);
  };

  const callback: Answer = (request, response) => {
    if (request.method !== 'GET') return refuseMethod(response, 'GET');
    return legs.comeBack(request, response, urlOf(request).searchParams);
  };

  const ownConnections: Answer = (request, response) => {
    if (request.method === 'GET') return account.show(request, response);
    if (request.method === 'POST') return account.act(request, response);
    return refuseMethod(response, 'GET, POST');
  };

  function refuseMethod(response: ServerResponse, allowed: string): void {
    response.setHeader('allow', allowed);
    desk.showDeadEnd(response, WRONG_METHOD);
  }

  const safely = (answer: Answer) => (request: IncomingMessage, response: ServerResponse) => {
    Promise.resolve()
      .then(() => answer(request, response))
      .catch((error: unknown) => {
        const incident = newIncident();
        const isAway = codeOf(error) === 'storage.unavailable';
        log[isAway ? 'warn' : 'error']('login page failed', { incident, path: urlOf(request).pathname, error });
        if (response.headersSent) return void response.destroy();
        const { status, page } = isAway ? STORE_AWAY : BROKEN;
        if (isAway) response.setHeader('retry-after', '2');
        sendPage(response, status, errorPage({ ...page, incident }));
      });
  };

  const rules = { authentication: 'browser', pages: 'navigation' } as const;
  return {
    startConnection: connections.start,
    routes: [
      { path: paths.interaction, below: true, ...rules, handler: safely(interaction) },
      { path: paths.callback, ...rules, handler: safely(callback) },
      { path: paths.connections, door: 'authorize', ...rules, handler: safely(ownConnections) },
    ],
  };
}

function urlOf({ url }: IncomingMessage): URL {
  return new URL(url ?? '/', 'http://login.invalid');
}
