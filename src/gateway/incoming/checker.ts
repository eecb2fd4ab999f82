import { readFile } from 'node:fs/promises';
import { given, type Log } from '../../base/index.ts';
import {
  createFetch,
  createIntrospection,
  createIssuer,
  createKeySet,
  jwtHeader,
  type Verdict,
  verifyJwt,
} from '../../oauth/index.ts';
import type { OidcPlan } from '../../plan/index.ts';
import { createSeldom } from './seldom.ts';
import { rememberVerified, type TokenCheck } from './verified.ts';

/** Tells good tokens from bad ones, for one issuer and audience. */
export interface Checker extends TokenCheck {
  /** Who issues the tokens. It may have to be found out first. */
  readonly issuer: () => string | Promise<string>;
  close(): Promise<void>;
}

export interface CheckerParts {
  readonly log: Log;
  readonly now: () => number;
}

/** Every request to an issuer is over within this many milliseconds. */
const PATIENCE = 5_000;

/** For tokens of an identity provider elsewhere. It is asked when the first token comes, not before: it may be down, or behind us. */
export function createOidcChecker(plan: OidcPlan, { log, now }: CheckerParts): Checker {
  const { issuer, audience, tokenFile } = plan;
  const seldom = createSeldom(now);
  const fetch = createFetch({ range: plan.addresses, timeout: PATIENCE, ...given({ ca: plan.ca }) });
  const bearer = tokenFile === undefined ? {} : { bearer: () => readToken(tokenFile) };
  const source = createIssuer({ ...plan, ...bearer, fetch });
  const keys = createKeySet({
    read: () => source.readKeys(),
    now,
    onFailure(error) {
      if (seldom(issuer) !== undefined) log.warn('the keys of an issuer cannot be read', { issuer, error });
    },
  });
  const canIntrospect = plan.introspectionUrl !== undefined || plan.clientSecret !== undefined;
  const introspect = createIntrospection({
    ...plan,
    ...(plan.introspectionUrl === undefined ? {} : bearer), // only to where the operator sends it
    find: async () => (canIntrospect ? await source.findIntrospection() : undefined),
    fetch,
    now,
  });

  async function checkNow(token: string): Promise<Verdict> {
    if (jwtHeader(token)) return await verifyJwt(token, { issuer, audience, keys, types: 'any-jwt', now });
    return await introspect(token);
  }

  return {
    ...rememberVerified(checkNow, now),
    issuer: () => issuer,
    close: () => fetch.close(),
  };
}

/** Read anew each time: such tokens are rotated under our feet. */
async function readToken(file: string): Promise<string> {
  return (await readFile(file, 'utf8')).trim();
}
