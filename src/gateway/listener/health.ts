import type { IncomingMessage, ServerResponse } from 'node:http';
import { SallyError } from '../../base/index.ts';

/**
 * Liveness and readiness for probes: yes, and nothing about what is behind. The no is said by the listener, which answers 503
 * to everything until it was handed a gateway that is ready.
 */
export function answerHealth(request: IncomingMessage, response: ServerResponse): void {
  if (request.method !== 'GET' && request.method !== 'HEAD') {
    throw new SallyError('listener.method_refused', `health takes GET, not ${request.method}`, {
      data: { allow: 'GET, HEAD' },
    });
  }
  const body = '{"status":"ok"}\n';
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  response.end(body);
}
