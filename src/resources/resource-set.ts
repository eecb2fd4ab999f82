import { KINDS, type KindName, type Resource, type ResourceOf } from './kinds/all.ts';

/** Checked resources, by kind in the order they were read, and by name. */
export interface ResourceSet {
  readonly virtualMcpServers: readonly ResourceOf<'VirtualMCPServer'>[];
  readonly mcpGroups: readonly ResourceOf<'MCPGroup'>[];
  readonly mcpServers: readonly ResourceOf<'MCPServer'>[];
  readonly mcpServerEntries: readonly ResourceOf<'MCPServerEntry'>[];
  readonly mcpExternalAuthConfigs: readonly ResourceOf<'MCPExternalAuthConfig'>[];
  readonly mcpOidcConfigs: readonly ResourceOf<'MCPOIDCConfig'>[];
  readonly secrets: readonly ResourceOf<'Secret'>[];
  readonly configMaps: readonly ResourceOf<'ConfigMap'>[];
  readonly all: readonly Resource[];
  find<K extends KindName>(kind: K, namespace: string, name: string): ResourceOf<K> | undefined;
}

export function createResourceSet(all: readonly Resource[]): ResourceSet {
  const byKind = new Map<KindName, Map<string, Resource>>(KINDS.map((kind) => [kind, new Map()]));
  for (const resource of all) {
    byKind.get(resource.kind)?.set(`${resource.metadata.namespace}/${resource.metadata.name}`, resource);
  }
  // The maps are keyed by kind above, which the type system cannot follow.
  const of = <K extends KindName>(kind: K): readonly ResourceOf<K>[] =>
    [...(byKind.get(kind)?.values() ?? [])] as ResourceOf<K>[];
  return {
    virtualMcpServers: of('VirtualMCPServer'),
    mcpGroups: of('MCPGroup'),
    mcpServers: of('MCPServer'),
    mcpServerEntries: of('MCPServerEntry'),
    mcpExternalAuthConfigs: of('MCPExternalAuthConfig'),
    mcpOidcConfigs: of('MCPOIDCConfig'),
    secrets: of('Secret'),
    configMaps: of('ConfigMap'),
    all,
    find: <K extends KindName>(kind: K, namespace: string, name: string) =>
      byKind.get(kind)?.get(`${namespace}/${name}`) as ResourceOf<K> | undefined,
  };
}
