import { type HttpHandler, type Log, type Route, SallyError } from '../base/index.ts';
import type { Gateway } from './gateway.ts';
import { type Access, allowEveryPage, answerHealth, createCors, createGuard, refuse } from './listener/index.ts';

export interface RouterParts {
  readonly access: Access;
  readonly log: Log;
}

const HEALTH = { authentication: 'none', pages: 'own', handler: answerHealth } as const;

/** Everything that one listener serves. What is not in this list does not exist. */
export function routesOf(gateways: readonly Gateway[]): readonly Route[] {
  return [{ path: '/health', ...HEALTH }, { path: '/readyz', ...HEALTH }, ...gateways.flatMap(({ routes }) => routes)];
}

/** Which path belongs to whom, on one listener. Nobody gets as far as a handler who may not. */
export function createRouter(gateways: readonly Gateway[], { access, log }: RouterParts): HttpHandler {
  const names = gateways.flatMap(({ hosts }) => hosts);
  const guard = createGuard({ ...access, allowedHosts: [...access.allowedHosts, ...names] });
  const cors = createCors(access);
  const find = createTable(routesOf(gateways));

  return function router(request, response) {
    try {
      guard.checkHost(request);
      const route = find(pathOf(request.url ?? ''));
      const pages = route?.pages ?? 'own';
      guard.checkPage(request, pages);
      if (pages === 'any' ? allowEveryPage(request, response) : cors(request, response)) return;
      if (!route) throw new SallyError('listener.not_found', 'nothing is served at this path');
      route.handler(request, response);
    } catch (error) {
      refuse(response, error, undefined, log);
    }
  };
}

function pathOf(url: string): string {
  const end = url.indexOf('?');
  return end === -1 ? url : url.slice(0, end);
}

/** Exact paths first; the deepest route that serves what is below it otherwise. */
function createTable(routes: readonly Route[]): (path: string) => Route | undefined {
  const exact = new Map<string, Route>();
  for (const route of routes) {
    if (exact.has(route.path)) {
      throw new SallyError('config.invalid', `two endpoints of one port would answer at ${route.path}`, {
        hint: 'give their resource URLs and issuers different paths, or serve them on different ports',
      });
    }
    exact.set(route.path, route);
  }
  const below = routes.filter((route) => route.below).sort((a, b) => b.path.length - a.path.length);
  return (path) => exact.get(path) ?? below.find((route) => path.startsWith(`${route.path}/`));
}
