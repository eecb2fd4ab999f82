import type { IncomingMessage, ServerResponse } from 'node:http';
import type { InteractionResults } from 'oidc-provider';
import type { Account } from '../account/index.ts';
import { nameOfGrant } from '../library/audit.ts';
import type { Connections } from './connections.ts';
import { STALE } from './dead-ends.ts';
import type { Desk } from './desk.ts';
import { NOT_COMPLETED } from './failures.ts';
import { type FlowFailure, isOver, type LoginFlow } from './flow.ts';
import { redirect } from './http.ts';

export type Finish = (request: IncomingMessage, response: ServerResponse, uid: string) => Promise<void>;

/** The last step: what the login came to is handed to the library, which sends the browser back to the client. */
export function createFinish(desk: Desk, connections: Connections, account: Pick<Account, 'open'>): Finish {
  const { plan, provider, flows, cookies, vault, users, logins, now } = desk;

  /** Makes the grant that the code will stand for. The tokens of the providers have belonged to its id from the start. */
  async function complete(flow: LoginFlow): Promise<InteractionResults> {
    const { identity, grantId, client, scopes, resource } = flow;
    if (!identity) throw new Error('a complete login has no user');
    const user = await users.resolve(identity.provider, identity.source, identity);
    const owner = { clientId: client.id, userId: user.id };
    await vault.of(grantId).settle(flow.chain, owner, plan.lifespans.login);
    const since = Math.floor(now() / 1000);
    // Before the grant: nothing may stand that its user cannot find.
    const older = await logins.begin({ grantId, user, client, since, until: since + plan.lifespans.login });
    for (const login of older) await desk.endLogin(login, 'another login');
    const grant = new provider.Grant({ ...{ jti: grantId }, clientId: client.id, accountId: user.id });
    grant.addOIDCScope(scopes.join(' '));
    grant.addResourceScope(resource, scopes.join(' '));
    await grant.save();
    return { login: { accountId: user.id, remember: false }, consent: { grantId } };
  }

  return async function finish(request, response, uid) {
    const seen = await desk.admit(request, response, uid);
    if (!seen) return;
    if (!isOver(seen)) return desk.leadOn(response, seen);
    const flow = await flows.take(seen);
    if (!flow) return desk.showDeadEnd(response, STALE, { flow: seen.tag });
    await flows.remove(uid);
    try {
      if (flow.kind === 'connection') return await connections.complete(response, flow);
      if (flow.kind === 'account') return await account.open(response, flow);
      const result = flow.failure ? errorOf(flow.failure) : await complete(flow);
      const options = { mergeWithLastSubmission: false };
      const resume = await provider.interactionResult(request, response, result, options);
      cookies.end(response, flow);
      redirect(response, resume);
      if (!result.login) return;
      const { accountId: user } = result.login;
      desk.audit('auth.completed', flow, { user, providers: flow.chain, grant: nameOfGrant(flow.grantId) });
    } catch (error) {
      await desk.fail(response, flow, NOT_COMPLETED, { error });
    }
  };
}

function errorOf({ error, description }: FlowFailure): InteractionResults {
  return { error, error_description: description };
}
