import type { IncomingMessage } from 'node:http';
import type { Route } from '../../base/index.ts';
import { createLimiter, type Limit, type Limiter } from '../limits.ts';
import { OAuthError } from '../oauth-error.ts';
import type { SendErrorPage } from '../page.ts';
import { sendNotice } from './notices.ts';
import type { SourceOf } from './source.ts';

/** What is counted together. */
export type Door = 'register' | 'authorize' | 'token' | 'introspect' | 'callback';

/** For one source, and for all together. */
export type Limits = Readonly<Record<Door, { readonly source: Limit; readonly all: Limit }>>;

export const LIMITS: Limits = {
  register: { source: { burst: 20, perSecond: 0.2 }, all: { burst: 200, perSecond: 10 } },
  authorize: { source: { burst: 60, perSecond: 1 }, all: { burst: 1000, perSecond: 50 } },
  token: { source: { burst: 120, perSecond: 4 }, all: { burst: 2000, perSecond: 200 } },
  introspect: { source: { burst: 1000, perSecond: 100 }, all: { burst: 5000, perSecond: 1000 } },
  callback: { source: { burst: 120, perSecond: 2 }, all: { burst: 2000, perSecond: 100 } },
};

/** Lets a request in, or throws with the time to wait. */
export type Throttle = (door: Door, request: IncomingMessage) => void;

/** How often each was used, by door. Kept over reloads: a change of the plan is no amnesty. */
export type Counters = ReadonlyMap<Door, { readonly source: Limiter; readonly all: Limiter }>;

export function createCounters(limits: Limits, now: () => number): Counters {
  return new Map(
    (Object.keys(limits) as Door[]).map((door) => {
      const { source, all } = limits[door];
      return [door, { source: createLimiter(source, now), all: createLimiter(all, now) }];
    }),
  );
}

export function createThrottle(counters: Counters, sourceOf: SourceOf): Throttle {
  return (door, request) => {
    const counter = counters.get(door);
    const source = sourceOf(request);
    // One noisy source is stopped before it uses up what is for all.
    const wait = (source === undefined ? 0 : counter?.source.wait(source)) || counter?.all.wait('all') || 0;
    if (wait === 0) return;
    throw new OAuthError(429, 'temporarily_unavailable', `too many requests, wait ${wait} seconds`, {
      retryAfter: wait,
    });
  };
}

/** A route of the login pages, and where its requests are counted: with callbacks, unless it begins something. */
export type PageRoute = Route & { readonly door?: Door };

export function throttled(
  { door = 'callback', ...route }: PageRoute,
  throttle: Throttle,
  sendErrorPage: SendErrorPage,
): Route {
  return {
    ...route,
    handler(request, response) {
      try {
        throttle(door, request);
      } catch (error) {
        if (!(error instanceof OAuthError)) throw error;
        return void sendNotice(response, error, sendErrorPage);
      }
      route.handler(request, response);
    },
  };
}
