import type { Secret } from '../base/index.ts';
import {
  type BackendResource,
  backendsOf,
  externalAuthOf,
  type FieldPath,
  type Problem,
  problemAt,
  type Resource,
  type ResourceOf,
  type ResourceSet,
} from '../resources/index.ts';
import {
  type BackendPlan,
  type BackendTarget,
  type CredentialPlan,
  DEFAULT_TIMEOUT,
  type DoorPlan,
  type GatewayPlan,
} from './plan.ts';
import { planSingle } from './single.ts';

/** Where a declared server answers, or why nothing on this machine can run it. */
export type TargetOf = (server: ResourceOf<'MCPServer'>) => BackendTarget | undefined;

export interface PlanSources {
  readonly targetOf: TargetOf;
  readonly secretOf: (namespace: string, ref: { readonly name: string; readonly key: string }) => Secret;
  /** The port of the virtual servers. */
  readonly port: number;
}

export interface Planned {
  readonly doors: readonly DoorPlan[];
  /** What is valid but cannot be done by this version. Nothing is served when there is one: never with less protection than asked for. */
  readonly unsupported: readonly Problem[];
}

/** What validated resources mean for the gateways: one for each virtual server, and one for each server with a port of its own. */
export function planResources(set: ResourceSet, sources: PlanSources): Planned {
  const unsupported: Problem[] = [];
  const refuse = (resource: Resource, path: FieldPath, message: string): void => {
    unsupported.push(problemAt(resource.origin, `${resource.kind}/${resource.metadata.name}`, { path, message }));
  };

  const virtual = set.virtualMcpServers.map((server): GatewayPlan => {
    refuseUnsupported(server, refuse);
    const { name } = server.metadata;
    const backends = [...backendsOf(set, server)].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    return {
      name,
      paths: pathsOf(server, set.virtualMcpServers, refuse),
      incoming: { kind: 'anonymous' },
      backends: backends.flatMap((backend) => planBackend(backend, credentialOf(set, server, backend, refuse)) ?? []),
      naming: { kind: 'prefix', format: '{workload}_' },
    };
  });

  const single = set.mcpServers.flatMap((server): DoorPlan[] => {
    const { proxyPort } = server.spec;
    if (proxyPort === undefined) return [];
    const { name } = server.metadata;
    const target = sources.targetOf(server);
    if (!target) return [];
    if (server.spec.externalAuthConfigRef)
      refuse(server, ['spec', 'externalAuthConfigRef'], `${NOT_YET} behind proxyPort`);
    return [{ port: proxyPort, gateways: [planSingle(name, target)] }];
  });

  function planBackend(backend: BackendResource, credential: CredentialPlan): BackendPlan | undefined {
    const target =
      backend.kind === 'MCPServer' ? sources.targetOf(backend) : remoteTarget(set, backend, sources.secretOf);
    if (backend.spec.transport === 'sse')
      refuse(backend, ['spec', 'transport'], `sse ${NOT_YET}; most servers speak streamable-http too`);
    return target && { name: backend.metadata.name, target, credential, timeout: DEFAULT_TIMEOUT };
  }

  const doors = virtual.length > 0 ? [{ port: sources.port, gateways: virtual }, ...single] : single;
  return { doors, unsupported };
}

const NOT_YET = 'is not available in this version yet';
type Refuse = (resource: Resource, path: FieldPath, message: string) => void;

/** Serving such a server without its authentication would be worse than not serving it. */
function refuseUnsupported(server: ResourceOf<'VirtualMCPServer'>, refuse: Refuse): void {
  if (server.spec.incomingAuth.type === 'oidc') refuse(server, ['spec', 'incomingAuth', 'type'], `oidc ${NOT_YET}`);
  if (server.spec.authServerConfig) refuse(server, ['spec', 'authServerConfig'], NOT_YET);
}

function credentialOf(
  set: ResourceSet,
  server: ResourceOf<'VirtualMCPServer'>,
  backend: BackendResource,
  refuse: Refuse,
): CredentialPlan {
  const config = externalAuthOf(set, server, backend);
  if (config && config.spec.type !== 'unauthenticated')
    refuse(config, ['spec', 'type'], `${config.spec.type} ${NOT_YET}`);
  return { kind: 'none' };
}

/** Each virtual server has a path of its own; the only one of a set answers at `/mcp` as well. */
function pathsOf(
  server: ResourceOf<'VirtualMCPServer'>,
  all: readonly ResourceOf<'VirtualMCPServer'>[],
  refuse: Refuse,
): GatewayPlan['paths'] {
  const { name, namespace } = server.metadata;
  const own = `/${name}/mcp`;
  if (all.length === 1) return ['/mcp', own];
  const twin = all.find(({ metadata }) => metadata.name === name && metadata.namespace !== namespace);
  if (twin)
    refuse(
      server,
      ['metadata', 'name'],
      `would share the path ${own} with the one in namespace ${twin.metadata.namespace}; rename one`,
    );
  return [own];
}

function remoteTarget(
  set: ResourceSet,
  entry: ResourceOf<'MCPServerEntry'>,
  secretOf: PlanSources['secretOf'],
): BackendTarget {
  const { remoteUrl, allowPrivateEndpoint, headerForward, caBundleRef } = entry.spec;
  const { namespace } = entry.metadata;
  const secret = (headerForward?.addHeadersFromSecret ?? []).map(
    ({ headerName, valueSecretRef }) => [headerName.toLowerCase(), secretOf(namespace, valueSecretRef)] as const,
  );
  const plain = Object.entries(headerForward?.addPlaintextHeaders ?? {}).map(
    ([name, value]) => [name.toLowerCase(), value] as const,
  );
  const bundle = caBundleRef?.configMapRef;
  const ca = bundle && set.find('ConfigMap', namespace, bundle.name)?.data?.[bundle.key];
  return {
    kind: 'streamable-http',
    url: remoteUrl,
    addresses: allowPrivateEndpoint ? 'private' : 'public',
    headers: Object.fromEntries([...plain, ...secret]),
    ...(ca === undefined ? {} : { ca }),
  };
}
