import type { IncomingMessage } from 'node:http';
import { type HttpHandler, SallyError } from '../base/index.ts';
import type { RequestId, RpcMessage } from '../mcp/index.ts';
import type { GatewayPlan } from '../plan/index.ts';
import {
  createLegacy,
  createModern,
  createOldSse,
  type Hubs,
  type Incoming,
  isModern,
  keepSessions,
  type OldClients,
  type Parking,
  postBatch,
  type SessionRows,
  type Sessions,
} from './clients/index.ts';
import { decodeMessage, decodeOldMessage } from './decode.ts';
import type { Entrance } from './entrance.ts';
import { type Access, createPublicUrl, Outlet } from './listener/index.ts';
import type { Standing } from './standing.ts';

export interface EndpointParts {
  readonly version: string;
  readonly access: Access;
  readonly entrance: Entrance;
  readonly sessions: Sessions;
  /** Where sessions are kept for other processes, if they are. */
  readonly sessionRows?: SessionRows;
  readonly standing: Standing;
  readonly parking: Parking;
  readonly oldClients: OldClients;
}

/** What answers at which path, below one gateway. */
export interface Endpoints {
  readonly mcp: HttpHandler;
  /** The deprecated transport, for old clients of a single server. */
  readonly sse: HttpHandler;
  readonly messages: HttpHandler;
}

export const SSE_PATH = '/sse';
export const MESSAGES_PATH = '/messages';

/** The request road, top to bottom, behind the guard of the listener. One message of one caller goes through here, for one backend or for many. */
export function createEndpoints(plan: GatewayPlan, hubs: Hubs, parts: EndpointParts): Endpoints {
  const { identify } = parts.entrance;
  const serverInfo = { name: plan.name, version: parts.version };
  const sessions = keepSessions(parts.sessions, parts.sessionRows, Date.now);
  const legacy = createLegacy({ hubs, sessions });
  const modern = createModern({ hubs, parking: parts.parking, serverInfo });
  const old = createOldSse(legacy, parts.sessions, parts.oldClients);

  const publicUrl = createPublicUrl(undefined, parts.access);

  /** Where an old client posts to, from its side of the proxies in between. */
  function messagesPath(request: IncomingMessage): string {
    const { prefix = '' } = plan.oldSse ?? {};
    return prefix === '' ? new URL(publicUrl(request, MESSAGES_PATH)).pathname : `${prefix}${MESSAGES_PATH}`;
  }

  return {
    mcp: endpoint(plan.postOnly ? 'POST' : 'POST, GET, DELETE', async (request, incoming, note) => {
      if (plan.postOnly && request.method !== 'POST') return false;
      switch (request.method) {
        case 'POST': {
          const decoded = await decodeMessage(request); //          bytes become an MCP message
          if (!('message' in decoded)) {
            await postBatch(legacy, incoming, decoded);
            return true;
          }
          const { message, raw } = decoded;
          note(message);
          if ('method' in message && message.method === 'subscriptions/listen') parts.standing.watch(incoming);
          if (isModern(message, request.headers)) await modern(incoming, message, raw);
          else await legacy.post(incoming, message, raw); //        clients, hub, boundary 2, backend
          return true;
        }
        case 'GET':
          await legacy.get(incoming);
          parts.standing.watch(incoming);
          return true;
        case 'DELETE':
          await legacy.delete(incoming);
          return true;
        default:
          return false;
      }
    }),

    sse: endpoint('GET', async (request, incoming) => {
      if (request.method !== 'GET') return false;
      old.open(incoming, messagesPath(request));
      parts.standing.watch(incoming);
      return true;
    }),

    messages: endpoint('POST', async (request, incoming, note) => {
      if (request.method !== 'POST') return false;
      const decoded = await decodeOldMessage(request);
      if (!('message' in decoded)) throw new SallyError('call.invalid_request', 'send one message at a time');
      note(decoded.message);
      const id = new URL(request.url ?? '', 'http://x').searchParams.get('sessionId');
      await old.post(incoming, id, decoded.message, decoded.raw);
      return true;
    }),
  };

  function endpoint(allow: string, answer: Answer): HttpHandler {
    return async function endpoint(request, response) {
      let id: RequestId | undefined;
      try {
        const found = identify(request); //                         boundary 1: who is asking
        const identity = found instanceof Promise ? await found : found;
        const incoming: Incoming = { headers: request.headers, identity, outlet: new Outlet(response) };
        const taken = await answer(request, incoming, (message) => {
          id = 'id' in message ? message.id : undefined;
        });
        if (!taken)
          throw new SallyError('listener.method_refused', `${request.method} is not taken here`, { data: { allow } });
      } catch (error) {
        parts.entrance.refuse(request, response, error, id);
      }
    };
  }
}

/** Answers a request, and says `false` when its method is not one of those it takes. `note` remembers whom an error is for. */
type Answer = (request: IncomingMessage, incoming: Incoming, note: (message: RpcMessage) => void) => Promise<boolean>;
