import type { AuthServerConfig } from '../blocks/auth-server.ts';
import type { ResourceOf } from '../kinds/all.ts';
import type { ResourceSet } from '../resource-set.ts';

/** The authorization server that runs at the port of one MCPServer. */
export interface OwnLogin {
  /** The field that names it. */
  readonly field: 'authServerRef' | 'externalAuthConfigRef';
  readonly resource: ResourceOf<'MCPExternalAuthConfig'>;
  readonly config: AuthServerConfig;
}

/** An MCPServer names its login apart from its credential, or in place of one: the token of the login is the credential then. */
export function ownLoginOf(set: ResourceSet, server: ResourceOf<'MCPServer'>): OwnLogin | undefined {
  for (const field of ['authServerRef', 'externalAuthConfigRef'] as const) {
    const reference = server.spec[field];
    const resource = reference && set.find('MCPExternalAuthConfig', server.metadata.namespace, reference.name);
    const config = resource?.spec.embeddedAuthServer;
    if (resource && config) return { field, resource, config };
  }
  return undefined;
}

/** The credential that an MCPServer names, where it is not its login. */
export function ownCredentialOf(
  set: ResourceSet,
  { metadata, spec }: ResourceOf<'MCPServer'>,
): ResourceOf<'MCPExternalAuthConfig'> | undefined {
  const { externalAuthConfigRef: reference } = spec;
  const resource = reference && set.find('MCPExternalAuthConfig', metadata.namespace, reference.name);
  return resource?.spec.type === 'embeddedAuthServer' ? undefined : resource;
}
