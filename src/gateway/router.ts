import { type Log, SallyError } from '../base/index.ts';
import type { Gateway } from './gateway.ts';
import { type Access, answerHealth, createCors, createGuard, type HttpHandler, refuse } from './listener/index.ts';

export interface RouterParts {
  readonly access: Access;
  readonly log: Log;
}

/** Which path belongs to whom, on one listener. What is not in the table does not exist, and nobody gets that far who may not. */
export function createRouter(gateways: readonly Gateway[], { access, log }: RouterParts): HttpHandler {
  const guard = createGuard(access);
  const cors = createCors(access);
  const routes = new Map<string, HttpHandler>([
    ['/health', answerHealth],
    ['/readyz', answerHealth],
  ]);
  for (const gateway of gateways) {
    for (const [path, handler] of gateway.routes) routes.set(path, handler);
  }

  return function router(request, response) {
    try {
      guard(request); // host, origin
      if (cors(request, response)) return;
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      const route = routes.get(path);
      if (!route) throw new SallyError('listener.not_found', 'nothing is served at this path');
      route(request, response);
    } catch (error) {
      refuse(response, error, undefined, log);
    }
  };
}
