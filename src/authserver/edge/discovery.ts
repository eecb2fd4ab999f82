import type { AuthServerPlan } from '../../plan/index.ts';
import { PATHS } from '../library/provider.ts';

const DOCUMENTS = ['oauth-authorization-server', 'openid-configuration'] as const;

/** A path of ours, and the path of the library that answers for it. */
export interface Mount {
  readonly path: string;
  readonly libraryPath: string;
}

/**
 * Where the two discovery documents are. For an issuer with a path RFC 8414 §3.1 puts the well-known part in front of the path,
 * OpenID Connect Discovery §4 behind it, and clients try both. Nothing else is one of our documents.
 */
export function discoveryMounts(issuer: URL): readonly Mount[] {
  const path = issuer.pathname === '/' ? '' : issuer.pathname;
  return DOCUMENTS.flatMap((name) => {
    const libraryPath = `/.well-known/${name}`;
    const inserted = { path: `/.well-known/${name}${path}`, libraryPath };
    return path === '' ? [inserted] : [inserted, { path: `${path}/.well-known/${name}`, libraryPath }];
  });
}

/** The library's document, corrected where the library cannot be told. */
export function editDiscovery(document: Readonly<Record<string, unknown>>, plan: AuthServerPlan): object {
  const base = plan.authorizationEndpointBase;
  return {
    ...document,
    response_modes_supported: ['query'],
    ...(base === undefined ? {} : { authorization_endpoint: `${base}${PATHS.authorization}` }),
  };
}
