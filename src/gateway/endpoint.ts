import type { ServerResponse } from 'node:http';
import type { Log } from '../base/index.ts';
import { isResponse, type RequestId, type RpcMessage } from '../mcp/index.ts';
import type { GatewayPlan } from '../plan/index.ts';
import type { Call, Handle, Identity, Reply } from './call.ts';
import { decodeMessage } from './decode.ts';
import { createIncoming } from './incoming/index.ts';
import { createGuard, type HttpHandler, refuse } from './listener/index.ts';

export interface EndpointParts {
  readonly host: string;
  readonly log: Log;
}

/** The request road, top to bottom. One MCP request of one caller goes through here, for one backend or for many. */
export function createEndpoint(plan: GatewayPlan, answer: Handle, parts: EndpointParts): HttpHandler {
  const guard = createGuard(parts.host);
  const identify = createIncoming(plan.incoming);

  return async function endpoint(request, response) {
    let id: RequestId | undefined;
    try {
      guard(request); //                                     listener: host, origin
      const identity = await identify(request); //           boundary 1: who is asking
      const message = await decodeMessage(request); //       bytes become an MCP message
      id = 'id' in message ? message.id : undefined;
      const call = toCall(message, identity, response);
      const reply = call ? await answer(call) : ACCEPTED; // hub, boundary 2, backend
      encodeReply(response, reply);
    } catch (error) {
      refuse(response, error, id, parts.log);
    }
  };
}

const ACCEPTED: Reply = { kind: 'accepted' };

/** A response of the client answers a request of a server; we pass none on yet, so there is nothing it could belong to. */
function toCall(message: RpcMessage, identity: Identity, response: ServerResponse): Call | undefined {
  if (isResponse(message)) return undefined;
  return {
    id: 'id' in message ? message.id : undefined,
    method: message.method,
    params: message.params ?? {},
    identity,
    signal: whenGone(response),
  };
}

/** Aborts when the connection closes before the answer was sent: nobody is waiting for it any more. */
function whenGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort(new DOMException('the client went away', 'AbortError'));
  });
  return gone.signal;
}

function encodeReply(response: ServerResponse, reply: Reply): void {
  switch (reply.kind) {
    case 'accepted':
      response.writeHead(202).end();
      return;
    case 'unary': {
      const body = JSON.stringify(reply.message);
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
      return;
    }
  }
}
