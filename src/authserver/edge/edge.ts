import type { Log, Route } from '../../base/index.ts';
import type { AuthServerPlan } from '../../plan/index.ts';
import { type ClientRules, parseClientMetadata } from '../clients/metadata.ts';
import type { Answer, Ask } from '../library/ask.ts';
import { PATHS } from '../library/provider.ts';
import type { SendErrorPage } from '../page.ts';
import { sendAnswer, sendJson } from './answer.ts';
import { createAuthorize } from './authorize.ts';
import { discoveryMounts, editDiscovery } from './discovery.ts';
import type { createOwnTokens } from './own-tokens.ts';
import type { Refresh } from './refresh.ts';
import { readForm, readJson } from './request.ts';
import { checked, clientHeaders, formQuestion, handler, type Serve } from './serve.ts';
import type { Throttle } from './throttle.ts';

export interface EdgeParts {
  readonly ask: Ask;
  readonly rules: ClientRules;
  readonly ownTokens: ReturnType<typeof createOwnTokens>;
  readonly refresh: Refresh;
  readonly throttle: Throttle;
  readonly sendErrorPage: SendErrorPage;
  readonly log: Log;
}

const READ = ['GET', 'HEAD'];
const CACHED = { 'cache-control': 'public, max-age=300' } as const;

/** What the world sees of the library: these paths, these methods, and of each request and answer only what is named here. */
export function createEdge(plan: AuthServerPlan, parts: EdgeParts): readonly Route[] {
  const { ask, rules, ownTokens, refresh, throttle, sendErrorPage, log } = parts;
  const issuer = new URL(plan.issuer);
  const base = issuer.pathname === '/' ? '' : issuer.pathname;

  /** A document that is the same as long as the plan is. It is made when it is first asked for. */
  function document(path: string, edit: (made: Readonly<Record<string, unknown>>) => object): Serve {
    let kept: object | undefined;
    return async (_request, response) => {
      kept ??= edit(JSON.parse(checked(await ask({ method: 'GET', path }), log).body));
      sendJson(response, 200, kept, CACHED);
    };
  }

  const register: Serve = async (request, response) => {
    throttle('register', request);
    const metadata = parseClientMetadata(await readJson(request), rules);
    const headers = { 'content-type': 'application/json' };
    const answer = await ask({ method: 'POST', path: PATHS.registration, headers, body: JSON.stringify(metadata) });
    sendAnswer(response, onlyOurs(checked(answer, log), metadata));
  };

  const token: Serve = async (request, response) => {
    throttle('token', request);
    const form = await readForm(request);
    const headers = clientHeaders(request);
    const redeem = () => ask(formQuestion(PATHS.token, form, headers));
    const answer = form.get('grant_type') === 'refresh_token' ? refresh(form, headers, redeem) : redeem();
    sendAnswer(response, checked(await answer, log));
  };

  const revoke: Serve = async (request, response) => {
    throttle('token', request);
    sendAnswer(response, await ownTokens.revoke(await readForm(request), clientHeaders(request)));
  };

  const introspect: Serve = async (request, response) => {
    throttle('introspect', request);
    sendAnswer(response, await ownTokens.introspect(await readForm(request), clientHeaders(request)));
  };

  const jwks = document(PATHS.jwks, (keys) => keys);
  const discovery = (path: string) => document(path, (made) => editDiscovery(made, plan));
  const known = new Set(plan.clients.map(({ id }) => id));
  const open = { authentication: 'none', pages: 'any' } as const;
  const forClients = { authentication: 'client', pages: 'any' } as const;
  return [
    ...discoveryMounts(issuer).map(
      ({ path, libraryPath }): Route => ({ path, ...open, handler: handler(READ, log, discovery(libraryPath)) }),
    ),
    { path: `${base}${PATHS.jwks}`, ...open, handler: handler(READ, log, jwks) },
    {
      path: `${base}${PATHS.authorization}`,
      below: true,
      authentication: 'none',
      pages: 'navigation',
      handler: createAuthorize({ ask, base, ...elsewhere(plan), known, throttle, sendErrorPage, log }),
    },
    { path: `${base}${PATHS.token}`, ...forClients, handler: handler(['POST'], log, token) },
    { path: `${base}${PATHS.revocation}`, ...forClients, handler: handler(['POST'], log, revoke) },
    ...(plan.registration.dynamic
      ? [{ path: `${base}${PATHS.registration}`, ...open, handler: handler(['POST'], log, register) }]
      : []),
    ...(plan.clients.some(({ secret }) => secret)
      ? [
          {
            path: `${base}${PATHS.introspection}`,
            authentication: 'client' as const,
            pages: 'own' as const,
            handler: handler(['POST'], log, introspect),
          },
        ]
      : []),
  ];
}

function elsewhere({ issuer, authorizationEndpointBase: base = issuer }: AuthServerPlan) {
  return new URL(base).origin === new URL(issuer).origin ? {} : { issuerElsewhere: issuer };
}

/** RFC 7591 §3.2.1: what was registered. The library adds its defaults for things that cannot be chosen here. */
function onlyOurs(answer: Answer, metadata: object): Answer {
  if (answer.status !== 201) return answer;
  const registered = JSON.parse(answer.body) as Readonly<Record<string, unknown>>;
  const names = ['client_id', 'client_id_issued_at', ...Object.keys(metadata)];
  return { ...answer, body: JSON.stringify(Object.fromEntries(names.map((name) => [name, registered[name]]))) };
}
