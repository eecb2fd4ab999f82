import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { type Log, toSallyError } from '../../base/index.ts';
import { errorResponse, type RequestId, toRpcError } from '../../mcp/index.ts';

/** The HTTP edge: turns what was thrown into a status and a JSON-RPC error. After the first byte there is nothing left to say. */
export function refuse(
  response: ServerResponse,
  thrown: unknown,
  id: RequestId | undefined,
  log: Log,
  headers: Readonly<Record<string, string | readonly string[]>> = {},
): void {
  // Nobody reads any more: a client may leave whenever it likes, and that is nobody's fault.
  if (response.destroyed || response.socket?.destroyed) return;
  const error = toSallyError(thrown);
  const incident = error.face.expose ? undefined : randomUUID();
  if (incident)
    log.error('a request met a bug', {
      incident,
      error,
      stack: error.cause instanceof Error ? error.cause.stack : undefined,
    });
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const body = JSON.stringify(errorResponse(id, toRpcError(error, incident)));
  // A body we did not read to its end would be taken for the next request on this connection.
  const close = response.req.complete ? {} : { connection: 'close' };
  const allow = typeof error.data?.allow === 'string' ? { allow: error.data.allow } : {};
  response.writeHead(error.face.http, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    ...close,
    ...allow,
    ...(headers as Record<string, string | string[]>),
  });
  response.end(body);
}
