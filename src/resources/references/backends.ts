import type { ResourceOf } from '../kinds/all.ts';
import type { ResourceSet } from '../resource-set.ts';

/** What a virtual server can stand in front of. */
export type BackendResource = ResourceOf<'MCPServer'> | ResourceOf<'MCPServerEntry'>;

/** The members of the group a virtual server serves, in the order they were read. */
export function backendsOf(set: ResourceSet, server: ResourceOf<'VirtualMCPServer'>): readonly BackendResource[] {
  return membersOf(set, server.metadata.namespace, server.spec.groupRef.name);
}

export function membersOf(set: ResourceSet, namespace: string, group: string): readonly BackendResource[] {
  return [...set.mcpServers, ...set.mcpServerEntries].filter(
    ({ metadata, spec }) => metadata.namespace === namespace && spec.groupRef?.name === group,
  );
}

/** The MCPExternalAuthConfig that a backend gets behind a virtual server, or `undefined` for none at all. */
export function externalAuthOf(
  set: ResourceSet,
  server: ResourceOf<'VirtualMCPServer'>,
  backend: BackendResource,
): ResourceOf<'MCPExternalAuthConfig'> | undefined {
  const { source, backends } = server.spec.outgoingAuth;
  const { name, namespace } = backend.metadata;
  // A backend may be called `constructor`: only the map's own keys count.
  const listed = backends && Object.hasOwn(backends, name) ? backends[name] : undefined;
  const reference = source === 'inline' ? listed?.externalAuthConfigRef : backend.spec.externalAuthConfigRef;
  return reference && set.find('MCPExternalAuthConfig', namespace, reference.name);
}
