import type { ResourceOf } from '../kinds/all.ts';
import type { ReferenceFinding, Scope } from './check.ts';
import { type OwnLogin, ownLoginOf } from './own-login.ts';

type MCPServer = ResourceOf<'MCPServer'>;

/** RFC 8707 §2: a resource is an absolute URI without a fragment. */
const RESOURCE = /^https?:\/\/[^#]+$/;

/** What an embedded authorization server and the endpoint that asks for its tokens must agree on. */
export function* checkEmbeddedServers(scope: Scope): Generator<ReferenceFinding> {
  for (const server of scope.set.virtualMcpServers) yield* checkIssuerOfVirtual(scope, server);
  for (const server of scope.set.mcpServers) {
    yield* checkReference(scope, server);
    const login = ownLoginOf(scope.set, server);
    if (login) yield* checkOwnLogin(scope, server, login);
  }
  yield* checkIssuersDiffer(scope);
}

/** An issuer is an address, and at an address there is one authorization server: two would not know each other's logins. */
function* checkIssuersDiffer({ set }: Scope): Generator<ReferenceFinding> {
  const virtual = set.virtualMcpServers.flatMap((resource) => {
    const issuer = resource.spec.authServerConfig?.issuer;
    return issuer === undefined ? [] : [{ resource, issuer, path: ['spec', 'authServerConfig', 'issuer'] }];
  });
  const single = set.mcpServers.flatMap((resource) => {
    const login = ownLoginOf(set, resource);
    return login ? [{ resource, issuer: login.config.issuer, path: ['spec', login.field, 'name'] }] : [];
  });
  const taken = new Map<string, string>();
  for (const { resource, issuer, path } of [...virtual, ...single]) {
    const other = taken.get(issuer);
    if (other !== undefined)
      yield {
        resource,
        path,
        message: `leads to the issuer ${issuer}, which is that of ${other} already; each needs its own`,
      };
    else taken.set(issuer, `${resource.kind}/${resource.metadata.name}`);
  }
}

/** Tokens of an embedded server are checked against the issuer of the MCPOIDCConfig: the two are one text. */
function* checkIssuerOfVirtual({ set }: Scope, server: ResourceOf<'VirtualMCPServer'>): Generator<ReferenceFinding> {
  const { authServerConfig, incomingAuth } = server.spec;
  if (!authServerConfig || !incomingAuth.oidcConfigRef) return;
  const { name } = incomingAuth.oidcConfigRef;
  const expected = set.find('MCPOIDCConfig', server.metadata.namespace, name)?.spec.inline?.issuer;
  if (expected === undefined || expected === authServerConfig.issuer) return;
  yield {
    resource: server,
    path: ['spec', 'authServerConfig', 'issuer'],
    message: `must equal the issuer of MCPOIDCConfig/${name}, which is ${expected}`,
  };
}

function* checkReference({ set }: Scope, server: MCPServer): Generator<ReferenceFinding> {
  const { authServerRef, externalAuthConfigRef } = server.spec;
  const find = (name: string) => set.find('MCPExternalAuthConfig', server.metadata.namespace, name);
  const named = authServerRef && find(authServerRef.name);
  if (named && named.spec.type !== 'embeddedAuthServer') {
    yield {
      resource: server,
      path: ['spec', 'authServerRef', 'name'],
      message: `names a credential (type ${named.spec.type}), not an authorization server`,
      hint: 'a credential belongs into externalAuthConfigRef',
    };
  }
  if (authServerRef && externalAuthConfigRef && find(externalAuthConfigRef.name)?.spec.type === 'embeddedAuthServer') {
    yield {
      resource: server,
      path: ['spec', 'externalAuthConfigRef', 'name'],
      message: 'names a second authorization server beside authServerRef; a port has one',
    };
  }
}

function* checkOwnLogin(
  { set }: Scope,
  server: MCPServer,
  { field, resource, config }: OwnLogin,
): Generator<ReferenceFinding> {
  const { proxyPort, oidcConfigRef } = server.spec;
  const problem = (path: readonly string[], message: string): ReferenceFinding => ({
    resource: server,
    path: ['spec', ...path],
    message,
  });
  // For authServerRef these two are rules of the MCPServer alone.
  if (field === 'externalAuthConfigRef' && proxyPort === undefined) {
    yield problem(
      [field],
      `is an authorization server (MCPExternalAuthConfig/${resource.metadata.name}), which needs a proxyPort to answer at`,
    );
    return;
  }
  if (!oidcConfigRef) {
    yield problem(
      ['oidcConfigRef'],
      `is required: the tokens of MCPExternalAuthConfig/${resource.metadata.name} must be asked for`,
    );
    return;
  }
  const { name, audience, resourceUrl } = oidcConfigRef;
  const expected = set.find('MCPOIDCConfig', server.metadata.namespace, name)?.spec.inline?.issuer;
  if (expected !== undefined && expected !== config.issuer) {
    yield {
      resource,
      path: ['spec', 'embeddedAuthServer', 'issuer'],
      message: `must equal the issuer of MCPOIDCConfig/${name}, which is ${expected}: MCPServer/${server.metadata.name} asks for its tokens`,
    };
  }
  if (audience !== undefined && !RESOURCE.test(audience)) {
    const message =
      'must be a URL without fragment with an authorization server: clients ask for tokens by it (RFC 8707)';
    yield problem(['oidcConfigRef', 'audience'], message);
  } else if (resourceUrl !== undefined && resourceUrl !== audience) {
    yield problem(['oidcConfigRef', 'resourceUrl'], 'must equal the audience with an authorization server');
  }
}
