import type { ResourceOf } from '../kinds/all.ts';
import { didYouMean } from '../validate/explain.ts';
import { type BackendResource, backendsOf, externalAuthOf } from './backends.ts';
import type { ReferenceFinding, Scope } from './check.ts';
import { ownCredentialOf, ownLoginOf } from './own-login.ts';

/** What callers reach a backend through, and what they bring along there. */
interface Front {
  readonly resource: ResourceOf<'VirtualMCPServer'> | ResourceOf<'MCPServer'>;
  /** Those of its login, if it has one. */
  readonly providers: readonly string[] | undefined;
  /** Nobody is asked for a token. */
  readonly isOpen: boolean;
  /** Where a login would be declared, and where that callers show tokens. */
  readonly login: readonly string[];
  readonly callers: { readonly path: readonly string[]; readonly says: string };
}

/** One backend behind one front, with the credential it gets there. */
interface Use {
  readonly front: Front;
  readonly backend: BackendResource;
  readonly config: ResourceOf<'MCPExternalAuthConfig'>;
}

/**
 * A credential made from a user's login needs the login: an embedded server with that provider, at everything in front of
 * the backend, however it came by the reference. Otherwise the first call would find out.
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
    const front: Front = {
      resource: server,
      providers: server.spec.authServerConfig?.upstreamProviders.map(({ name }) => name),
      isOpen: server.spec.incomingAuth.type === 'anonymous',
      login: ['spec', 'authServerConfig'],
      callers: { path: ['spec', 'incomingAuth', 'type'], says: 'must be oidc' },
    };
    for (const backend of backendsOf(set, server)) {
      const config = externalAuthOf(set, server, backend);
      if (config) yield { front, backend, config };
    }
  }
  for (const server of set.mcpServers) {
    const config = server.spec.proxyPort === undefined ? undefined : ownCredentialOf(set, server);
    if (!config) continue;
    const front: Front = {
      resource: server,
      providers: ownLoginOf(set, server)?.config.upstreamProviders.map(({ name }) => name),
      isOpen: server.spec.oidcConfigRef === undefined,
      login: ['spec', 'authServerRef'],
      callers: { path: ['spec', 'oidcConfigRef'], says: 'is required at a proxyPort' },
    };
    yield { front, backend: server, config };
  }
}

function* findingsOf(use: Use): Generator<ReferenceFinding> {
  const { front, backend, config } = use;
  const { type, upstreamInject, tokenExchange } = config.spec;
  if (type === 'embeddedAuthServer') yield misplaced(use);
  if (type === 'upstreamInject' && upstreamInject) {
    yield* checkProvider(use, upstreamInject.providerName, ['upstreamInject', 'providerName']);
  }
  if (type === 'tokenExchange' && tokenExchange) {
    const { subjectProviderName } = tokenExchange;
    if (subjectProviderName !== undefined) {
      yield* checkProvider(use, subjectProviderName, ['tokenExchange', 'subjectProviderName']);
    } else if (front.isOpen) {
      const { path, says } = front.callers;
      yield {
        resource: front.resource,
        path,
        message: `${says}: backend \`${backend.metadata.name}\` exchanges the token of the caller (MCPExternalAuthConfig/${config.metadata.name}), and anonymous callers have none`,
      };
    }
  }
}

/** Behind a virtual server users log in there, and each backend says which of their tokens it gets. */
function misplaced({ front, backend, config }: Use): ReferenceFinding {
  const isOwn = backend.spec.externalAuthConfigRef?.name === config.metadata.name;
  const server = `VirtualMCPServer/${front.resource.metadata.name}`;
  return {
    resource: isOwn ? backend : front.resource,
    path: isOwn
      ? ['spec', 'externalAuthConfigRef', 'name']
      : ['spec', 'outgoingAuth', 'backends', backend.metadata.name, 'externalAuthConfigRef', 'name'],
    message: `names an authorization server for a port of its own, which is no credential behind ${server}`,
    hint: 'name it in authServerRef of the MCPServer, and a credential here',
  };
}

function* checkProvider(use: Use, provider: string, field: readonly string[]): Generator<ReferenceFinding> {
  const { front, backend, config } = use;
  const { resource, providers } = front;
  if (!providers) {
    yield {
      resource,
      path: front.login,
      message: `is required: backend \`${backend.metadata.name}\` gets tokens of the login at \`${provider}\` (MCPExternalAuthConfig/${config.metadata.name})`,
    };
  } else if (!providers.includes(provider)) {
    yield {
      resource: config,
      path: ['spec', ...field],
      message: `is not an upstream provider of ${resource.kind}/${resource.metadata.name}`,
      hint: didYouMean(provider, providers).hint ?? `it has: ${providers.join(', ')}`,
    };
  }
}
