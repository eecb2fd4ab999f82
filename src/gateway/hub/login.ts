import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, SallyError } from '../../base/index.ts';
import { isAtLeast, isObject } from '../../mcp/index.ts';
import type { Answer, Call, Client, Identity } from '../call.ts';
import type { Forward } from './forward.ts';

/** The logins of callers, as far as a call may need one more. */
export interface Logins {
  /** A page where this caller connects his account at a provider, if there can be one. Whoever else opens it gets nowhere. */
  connectUrl(identity: Identity, provider: string): Promise<string | undefined>;
  /** Whether every login visits the provider, so that logging in again helps. */
  isVisited(provider: string): boolean;
}

/** How often a user is led there within one call before the call fails. */
const MAX_ASKS = 3;
/** How long a user may take at a provider before he is asked again, in milliseconds. */
const CONNECT_WITHIN = 2 * 60_000;
const LOOK_AGAIN = 1_000;
const NEVER = new AbortController().signal;

/**
 * A call that fails for want of a login tells the user so in the form that his client can use. The call has reached no server
 * then, so sending it again repeats nothing.
 */
export function withLogin(forward: Forward, logins: Logins | undefined): Forward {
  if (!logins) return forward;
  return async function forwardWithLogin(backend, call, method, params) {
    const attempt = () => forward(backend, call, method, params);
    try {
      return await attempt();
    } catch (error) {
      const provider = providerIn(error);
      if (provider === undefined) throw error;
      const url = await logins.connectUrl(call.identity, provider);
      const message = `${backend.name} needs your account at ${provider}. Connect it, then go on.`;
      if (url === undefined || !canShowPages(call.client)) throw explain(error, provider, url, logins);
      if (call.client.era === 'legacy') throw elicitationRequired(url, message);
      return await lead(call, { provider, url, message }, attempt, error);
    }
  };
}

/** A login that visits the provider is made after a challenge. One that does not would end where it began, over and over. */
function explain(error: unknown, provider: string, url: string | undefined, { isVisited }: Logins): unknown {
  if (isVisited(provider)) return error;
  const where = url === undefined ? 'log in again with another client' : `open ${url} in your browser`;
  return new SallyError('outgoing.account_needed', `your account at ${provider} is not connected: ${where}`, {
    data: { provider, ...(url === undefined ? {} : { url }) },
  });
}

/** MCP 2025-11-25: the client shows the page and sends the call again by itself. */
function elicitationRequired(url: string, message: string): SallyError {
  return new SallyError('outgoing.connect_needed', message, {
    data: { elicitations: [{ mode: 'url', elicitationId: randomUUID(), url, message }] },
  });
}

interface Lead {
  readonly provider: string;
  readonly url: string;
  readonly message: string;
}

/** MCP 2026-07-28: the client is asked within the call, and says yes when it opens the page, long before the user is done there. */
async function lead(call: Call, way: Lead, attempt: () => Promise<Answer>, error: unknown): Promise<Answer> {
  for (let asked = 0; asked < MAX_ASKS; asked++) {
    if (!(await accepted(call, way))) throw error;
    const until = performance.now() + CONNECT_WITHIN;
    while (performance.now() < until) {
      if (call.cancelled) throw call.cancelled;
      try {
        return await attempt();
      } catch (again) {
        if (providerIn(again) !== way.provider) throw again;
      }
      await sleep(LOOK_AGAIN, undefined, { ref: false });
    }
  }
  throw error;
}

async function accepted(call: Call, { provider, url, message }: Lead): Promise<boolean> {
  const told = await call.ask({
    id: `connect-${provider}`,
    method: 'elicitation/create',
    params: { mode: 'url', url, message },
    withdrawn: NEVER,
  });
  return 'result' in told && told.result.action === 'accept';
}

function canShowPages({ capabilities: { elicitation }, revision }: Client): boolean {
  return isObject(elicitation) && 'url' in elicitation && isAtLeast(revision, '2025-11-25');
}

function providerIn(error: unknown): string | undefined {
  if (codeOf(error) !== 'outgoing.login_needed') return undefined;
  const provider = error instanceof SallyError ? error.data?.provider : undefined;
  return typeof provider === 'string' ? provider : undefined;
}
