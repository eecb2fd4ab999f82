import { type Log, SallyError } from '../../base/index.ts';
import { agreeOnRevision, type Params } from '../../mcp/index.ts';
import type { NamingPlan } from '../../plan/index.ts';
import type { Answer, Backend, Call, Handle } from '../call.ts';
import { createCatalogue } from './catalogue.ts';
import { ownGreeting, sharedGreeting } from './greeting.ts';

export interface HubPlan {
  readonly name: string;
  readonly naming: NamingPlan;
}

export interface HubParts {
  readonly version: string;
  readonly log: Log;
}

/** Where a call meets the backends: one that is passed through as it is, or many that look like one. */
export function createHub(plan: HubPlan, backends: readonly Backend[], parts: HubParts): Handle {
  const [only] = backends;
  const members = plan.naming.kind === 'bare' && only ? passThrough(only, parts) : aggregate(plan, backends, parts);

  return async function hub(call) {
    // Nothing a client announces today concerns a backend: conversations with backends are the gateway's own.
    if (call.id === undefined) return { kind: 'accepted' };
    const answer = await answerOf(call, members);
    return { kind: 'unary', message: { jsonrpc: '2.0', id: call.id, ...answer } };
  };
}

interface Members {
  greet(call: Call): Promise<Params>;
  answer(call: Call): Promise<Answer>;
}

async function answerOf(call: Call, members: Members): Promise<Answer> {
  switch (call.method) {
    case 'initialize':
      return {
        result: { protocolVersion: agreeOnRevision(call.params.protocolVersion), ...(await members.greet(call)) },
      };
    case 'ping':
      return { result: {} };
    default:
      return members.answer(call);
  }
}

/** One backend: nothing is renamed, and methods we have never heard of reach it too. */
function passThrough(backend: Backend, { version }: HubParts): Members {
  return {
    greet: async (call) => sharedGreeting(await backend.hello(call.signal), version),
    answer: (call) => backend.request(call.method, call.params, call.identity, call.signal),
  };
}

/** Many backends: their tools in one list, each call sent to the one that owns the tool. */
function aggregate(plan: HubPlan, backends: readonly Backend[], { version, log }: HubParts): Members {
  const catalogue = createCatalogue(backends, plan.naming, log);
  return {
    greet: async () => ownGreeting(plan.name, version),
    async answer(call) {
      switch (call.method) {
        case 'tools/list':
          return { result: { tools: (await catalogue(call.signal)).tools } };
        case 'tools/call': {
          const { name } = call.params;
          if (typeof name !== 'string')
            throw new SallyError('call.invalid_params', 'tools/call needs the name of a tool');
          const route = (await catalogue(call.signal)).routes.get(name);
          if (!route) throw new SallyError('call.unknown_tool', `Unknown tool: ${name}`);
          return route.backend.request('tools/call', { ...call.params, name: route.name }, call.identity, call.signal);
        }
        default:
          throw new SallyError('call.unknown_method', `Method not found: ${call.method}`);
      }
    },
  };
}
