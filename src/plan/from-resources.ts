import { parseDuration, type Secret } from '../base/index.ts';
import {
  audienceOf,
  type BackendResource,
  backendsOf,
  externalAuthOf,
  type FieldPath,
  type Operational,
  type Problem,
  problemAt,
  type Resource,
  type ResourceOf,
  type ResourceSet,
} from '../resources/index.ts';
import { planAggregation } from './aggregation.ts';
import { planAuthServer } from './auth-server.ts';
import { planCredential, providerOf } from './credential.ts';
import { planIncoming } from './incoming.ts';
import type { BackendPlan, BackendTarget, CredentialPlan, DoorPlan, GatewayPlan } from './plan.ts';
import { planServer } from './server.ts';
import { DEFAULT_BACKEND } from './single.ts';

type VirtualServer = ResourceOf<'VirtualMCPServer'>;

/** Where a declared server answers, or why nothing on this machine can run it. */
export type TargetOf = (server: ResourceOf<'MCPServer'>) => BackendTarget | undefined;

export interface PlanSources {
  readonly targetOf: TargetOf;
  readonly secretOf: (namespace: string, ref: { readonly name: string; readonly key: string }) => Secret;
  /** Certificates to trust for every issuer of tokens, besides the system's. */
  readonly ca?: string;
  /** The port of the virtual servers. */
  readonly port: number;
}

export interface Planned {
  readonly doors: readonly DoorPlan[];
  /** What is valid but cannot be done. Nothing is served when there is one: never with less protection than asked for. */
  readonly unsupported: readonly Problem[];
}

type Refuse = (resource: Resource, path: FieldPath, message: string) => void;

/** What validated resources mean for the gateways: one for each virtual server, and one for each server with a port of its own. */
export function planResources(set: ResourceSet, sources: PlanSources): Planned {
  const unsupported: Problem[] = [];
  const refuse: Refuse = (resource, path, message) => {
    unsupported.push(problemAt(resource.origin, `${resource.kind}/${resource.metadata.name}`, { path, message }));
  };

  const virtual = set.virtualMcpServers.map((server): GatewayPlan => {
    const backends = [...backendsOf(set, server)].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
    return {
      name: server.metadata.name,
      paths: pathsOf(server, set.virtualMcpServers, refuse),
      incoming: planIncoming(
        set,
        {
          namespace: server.metadata.namespace,
          incomingAuth: server.spec.incomingAuth,
          ownIssuer: server.spec.authServerConfig?.issuer,
        },
        sources,
      ),
      ...authServerOf(set, server, sources),
      backends: backends.flatMap((backend) => planBackend(set, server, backend, sources, refuse) ?? []),
      aggregation: planAggregation(server.spec.config.aggregation),
    };
  });

  const single = set.mcpServers.flatMap((server): DoorPlan[] => {
    const { proxyPort } = server.spec;
    const target = proxyPort === undefined ? undefined : sources.targetOf(server);
    if (proxyPort === undefined || !target) return [];
    if (set.virtualMcpServers.length > 0) refuseTakenPort(server, proxyPort, sources.port, refuse);
    return [{ port: proxyPort, gateways: [planServer(set, server, target, { ...sources, refuse })] }];
  });

  const doors = virtual.length > 0 ? [{ port: sources.port, gateways: virtual }, ...single] : single;
  return { doors, unsupported };
}

function authServerOf(
  set: ResourceSet,
  server: VirtualServer,
  { secretOf }: PlanSources,
): Pick<GatewayPlan, 'authServer'> {
  const { authServerConfig: config, incomingAuth } = server.spec;
  const audience = audienceOf(incomingAuth);
  if (!config || audience === undefined) return {}; // the validator has asked for both
  const { namespace, name } = server.metadata;
  const { scopes = [], requiredScopes = [] } = incomingAuth.oidcConfigRef ?? {};
  const authServer = planAuthServer({
    set,
    namespace,
    name: `${namespace}/${name}`,
    config,
    audience,
    scopes: [...scopes, ...requiredScopes],
    backendsWith: (provider) =>
      backendsOf(set, server).flatMap((backend) =>
        providerOf(externalAuthOf(set, server, backend)) === provider ? [backend.metadata.name] : [],
      ),
    secretOf: (ref) => secretOf(namespace, ref),
  });
  return { authServer };
}

function planBackend(
  set: ResourceSet,
  server: VirtualServer,
  backend: BackendResource,
  sources: PlanSources,
  refuse: Refuse,
): BackendPlan | undefined {
  const { name } = backend.metadata;
  const target =
    backend.kind === 'MCPServer' ? sources.targetOf(backend) : remoteTarget(set, backend, sources.secretOf);
  return (
    target && {
      name,
      target,
      credential: credentialOf(set, server, backend, target, sources, refuse),
      revision: backend.spec.revision,
      ...operation(server.spec.config.operational, name),
    }
  );
}

function operation(
  { timeouts, failureHandling }: Operational,
  backend: string,
): Pick<BackendPlan, 'timeout' | 'breaker' | 'health'> {
  const { circuitBreaker, healthCheckInterval, healthCheckTimeout, unhealthyThreshold } = failureHandling;
  const own = Object.hasOwn(timeouts.perWorkload, backend) ? timeouts.perWorkload[backend] : undefined;
  const { breaker, health, timeout } = DEFAULT_BACKEND;
  return {
    timeout: milliseconds(own ?? timeouts.default, timeout),
    breaker: {
      enabled: circuitBreaker.enabled,
      threshold: circuitBreaker.failureThreshold,
      timeout: milliseconds(circuitBreaker.timeout, breaker.timeout),
    },
    health: {
      interval: milliseconds(healthCheckInterval, health.interval),
      timeout: milliseconds(healthCheckTimeout, health.timeout),
      threshold: unhealthyThreshold,
    },
  };
}

/** The validator has seen that the text is a duration. */
function milliseconds(text: string, otherwise: number): number {
  return parseDuration(text) ?? otherwise;
}

function credentialOf(
  set: ResourceSet,
  server: VirtualServer,
  backend: BackendResource,
  target: BackendTarget,
  { secretOf }: PlanSources,
  refuse: Refuse,
): CredentialPlan {
  const config = externalAuthOf(set, server, backend);
  return planCredential(config, target, { secretOf, refuse });
}

/** Each virtual server has a path of its own; the only one of a set answers at `/mcp` as well. */
function pathsOf(server: VirtualServer, all: readonly VirtualServer[], refuse: Refuse): GatewayPlan['paths'] {
  const { name, namespace } = server.metadata;
  const own = `/${name}/mcp`;
  if (all.length === 1) return ['/mcp', own];
  const twin = all.find(({ metadata }) => metadata.name === name && metadata.namespace !== namespace);
  if (twin) {
    refuse(
      server,
      ['metadata', 'name'],
      `would share the path ${own} with the one in namespace ${twin.metadata.namespace}; rename one`,
    );
  }
  return [own];
}

/** Two servers on one port would mean that one of them is never reached. The validator has compared the servers with each other. */
function refuseTakenPort(server: ResourceOf<'MCPServer'>, port: number, ours: number, refuse: Refuse): void {
  if (port === ours)
    refuse(server, ['spec', 'proxyPort'], `${port} is the port of the virtual servers (--port); choose another one`);
}

function remoteTarget(
  set: ResourceSet,
  entry: ResourceOf<'MCPServerEntry'>,
  secretOf: PlanSources['secretOf'],
): BackendTarget {
  const { remoteUrl, transport, allowPrivateEndpoint, headerForward, caBundleRef } = entry.spec;
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
    kind: transport,
    url: remoteUrl,
    addresses: allowPrivateEndpoint ? 'private' : 'public',
    headers: Object.fromEntries([...plain, ...secret]),
    ...(ca === undefined ? {} : { ca }),
  };
}
