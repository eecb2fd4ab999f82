import type { Log } from '../base/index.ts';
import { SallyError } from '../base/index.ts';
import type { Gateway } from './gateway.ts';
import { answerHealth, createGuard, type HttpHandler, refuse } from './listener/index.ts';

export interface RouterParts {
  readonly host: string;
  readonly log: Log;
}

/** Which path belongs to whom, on one listener. What is not in the table does not exist. */
export function createRouter(gateways: readonly Gateway[], { host, log }: RouterParts): HttpHandler {
  const guard = createGuard(host);
  const health: HttpHandler = (request, response) => answerHealth(guard, request, response);
  const routes = new Map([
    ['/health', health],
    ['/readyz', health],
  ]);
  for (const gateway of gateways) {
    for (const path of gateway.plan.paths) routes.set(path, gateway.handle);
  }

  return function router(request, response) {
    try {
      const path = (request.url ?? '').split('?', 1)[0] ?? '';
      const route = routes.get(path);
      if (!route) throw new SallyError('listener.not_found', 'nothing is served at this path');
      route(request, response);
    } catch (error) {
      refuse(response, error, undefined, log);
    }
  };
}
