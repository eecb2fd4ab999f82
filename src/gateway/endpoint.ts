import { type Log, SallyError } from '../base/index.ts';
import type { RequestId } from '../mcp/index.ts';
import type { GatewayPlan } from '../plan/index.ts';
import {
  createLegacy,
  createModern,
  type Hub,
  type Incoming,
  isModern,
  type Parking,
  type Sessions,
} from './clients/index.ts';
import { decodeMessage } from './decode.ts';
import { createIncoming } from './incoming/index.ts';
import { type HttpHandler, Outlet, refuse } from './listener/index.ts';

export interface EndpointParts {
  readonly version: string;
  readonly log: Log;
  readonly sessions: Sessions;
  readonly parking: Parking;
}

/** The request road, top to bottom, behind the guard of the listener. One MCP message of one caller goes through here, for one backend or for many. */
export function createEndpoint(plan: GatewayPlan, hub: Hub, parts: EndpointParts): HttpHandler {
  const identify = createIncoming(plan.incoming);
  const serverInfo = { name: plan.name, version: parts.version };
  const legacy = createLegacy({ hub, sessions: parts.sessions });
  const modern = createModern({ hub, parking: parts.parking, serverInfo });

  return async function endpoint(request, response) {
    let id: RequestId | undefined;
    try {
      const identity = await identify(request); //               boundary 1: who is asking
      const outlet = new Outlet(response);
      const incoming: Incoming = { headers: request.headers, identity, outlet };
      switch (request.method) {
        case 'POST': {
          const { message, raw } = await decodeMessage(request); // bytes become an MCP message
          id = 'id' in message ? message.id : undefined;
          if (isModern(message, request.headers)) await modern(incoming, message, raw);
          else await legacy.post(incoming, message, raw); //     clients, hub, boundary 2, backend
          return;
        }
        case 'GET':
          legacy.get(incoming);
          return;
        case 'DELETE':
          legacy.delete(incoming);
          return;
        default:
          throw new SallyError('listener.method_refused', `the MCP endpoint does not take ${request.method}`, {
            data: { allow: 'POST, GET, DELETE' },
          });
      }
    } catch (error) {
      refuse(response, error, id, parts.log);
    }
  };
}
