import type { ResourceOf } from '../kinds/all.ts';
import { didYouMean } from '../validate/explain.ts';
import { type BackendResource, backendsOf, externalAuthOf } from './backends.ts';
import type { ReferenceFinding, Scope } from './check.ts';

/** One backend behind one virtual server, with the credential it gets there. */
interface Use {
  readonly server: ResourceOf<'VirtualMCPServer'>;
  readonly backend: BackendResource;
  readonly config: ResourceOf<'MCPExternalAuthConfig'>;
}

/**
 * A credential made from a user's login needs the login: an embedded server with that provider, at every virtual server
 * in front of the backend, however it came by the reference. Otherwise the first call would find out.
 */
export function* checkStrategies(scope: Scope): Generator<ReferenceFinding> {
  const reported = new Set<string>();
  for (const use of usesIn(scope)) {
    for (const finding of findingsOf(use)) {
      // Two backends may share a config; its wrong provider name is one mistake.
      const mistake = JSON.stringify([finding.resource.kind, finding.resource.metadata, finding.path, finding.message]);
      if (!reported.has(mistake)) yield finding;
      reported.add(mistake);
    }
  }
}

function* usesIn({ set }: Scope): Generator<Use> {
  for (const server of set.virtualMcpServers) {
    for (const backend of backendsOf(set, server)) {
      const config = externalAuthOf(set, server, backend);
      if (config) yield { server, backend, config };
    }
  }
}

function* findingsOf(use: Use): Generator<ReferenceFinding> {
  const { type, upstreamInject, tokenExchange } = use.config.spec;
  if (type === 'upstreamInject' && upstreamInject) {
    yield* checkProvider(use, upstreamInject.providerName, ['upstreamInject', 'providerName']);
  }
  if (type === 'tokenExchange' && tokenExchange) {
    const { subjectProviderName } = tokenExchange;
    if (subjectProviderName !== undefined) {
      yield* checkProvider(use, subjectProviderName, ['tokenExchange', 'subjectProviderName']);
    } else if (use.server.spec.incomingAuth.type === 'anonymous') {
      yield {
        resource: use.server,
        path: ['spec', 'incomingAuth', 'type'],
        message: `must be oidc: backend \`${use.backend.metadata.name}\` exchanges the token of the caller (MCPExternalAuthConfig/${use.config.metadata.name}), and anonymous callers have none`,
      };
    }
  }
}

function* checkProvider(use: Use, provider: string, field: readonly string[]): Generator<ReferenceFinding> {
  const { server, backend, config } = use;
  const upstreams = server.spec.authServerConfig?.upstreamProviders.map(({ name }) => name);
  if (!upstreams) {
    yield {
      resource: server,
      path: ['spec', 'authServerConfig'],
      message: `is required: backend \`${backend.metadata.name}\` gets tokens of the login at \`${provider}\` (MCPExternalAuthConfig/${config.metadata.name})`,
    };
  } else if (!upstreams.includes(provider)) {
    yield {
      resource: config,
      path: ['spec', ...field],
      message: `is not an upstream provider of VirtualMCPServer/${server.metadata.name}`,
      hint: didYouMean(provider, upstreams).hint ?? `it has: ${upstreams.join(', ')}`,
    };
  }
}
