import type { Secret } from '../base/index.ts';
import {
  type FieldPath,
  type IncomingAuth,
  type OwnLogin,
  ownCredentialOf,
  ownLoginOf,
  type Resource,
  type ResourceOf,
  type ResourceSet,
} from '../resources/index.ts';
import { planAuthServer } from './auth-server.ts';
import { planCredential, providerOf } from './credential.ts';
import { planIncoming } from './incoming.ts';
import type { BackendTarget, CredentialPlan, GatewayPlan } from './plan.ts';
import { planSingle } from './single.ts';

type MCPServer = ResourceOf<'MCPServer'>;

export interface ServerSources {
  readonly secretOf: (namespace: string, ref: { readonly name: string; readonly key: string }) => Secret;
  readonly ca?: string;
  readonly refuse: (resource: Resource, path: FieldPath, message: string) => void;
}

/** One server alone at a port of its own, with both boundaries. */
export function planServer(
  set: ResourceSet,
  server: MCPServer,
  target: BackendTarget,
  sources: ServerSources,
): GatewayPlan {
  const { namespace, name } = server.metadata;
  const { oidcConfigRef, revision } = server.spec;
  const login = ownLoginOf(set, server);
  const incomingAuth: IncomingAuth = oidcConfigRef ? { type: 'oidc', oidcConfigRef } : { type: 'anonymous' };
  const incoming = planIncoming(set, { namespace, incomingAuth, ownIssuer: login?.config.issuer }, sources);
  const credential = credentialOf(set, server, target, login, sources);
  return {
    ...planSingle(name, target, { revision, credential }, incoming),
    ...(login ? authServerOf(set, server, login, credential, sources) : {}),
  };
}

/** What the server names wins; otherwise who logged in is shown to it by the token that he has at the only provider. */
function credentialOf(
  set: ResourceSet,
  server: MCPServer,
  target: BackendTarget,
  login: OwnLogin | undefined,
  sources: ServerSources,
): CredentialPlan {
  const named = ownCredentialOf(set, server);
  const provider = login?.config.upstreamProviders[0]?.name;
  if (named || !login || provider === undefined) return planCredential(named, target, sources);
  if (target.kind === 'stdio') {
    const says = `cannot hand the token of \`${provider}\` to a server that speaks stdio: it has no headers to carry one`;
    const way =
      'to ask for the login alone, name an MCPExternalAuthConfig of type unauthenticated in externalAuthConfigRef';
    sources.refuse(server, ['spec', login.field], `${says}; ${way}`);
  }
  return { kind: 'upstream-inject', provider };
}

function authServerOf(
  set: ResourceSet,
  server: MCPServer,
  { config }: OwnLogin,
  credential: CredentialPlan,
  { secretOf }: ServerSources,
): Pick<GatewayPlan, 'authServer'> {
  const { namespace, name } = server.metadata;
  const { audience, scopes = [], requiredScopes = [] } = server.spec.oidcConfigRef ?? {};
  if (audience === undefined) throw new TypeError(`MCPServer/${name} has a login and no audience`); // the validator has asked for it
  const shown = credential.kind === 'upstream-inject' ? credential.provider : providerOf(ownCredentialOf(set, server));
  const authServer = planAuthServer({
    set,
    namespace,
    // No name of a virtual server has a slash in it.
    name: `${namespace}/mcpserver/${name}`,
    config,
    audience,
    scopes: [...scopes, ...requiredScopes],
    backendsWith: (provider) => (provider === shown ? [name] : []),
    secretOf: (ref) => secretOf(namespace, ref),
  });
  return { authServer };
}
