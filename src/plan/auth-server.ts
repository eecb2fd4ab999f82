import { parseDuration, type Secret } from '../base/index.ts';
import { audienceOf, backendsOf, externalAuthOf, type ResourceOf, type ResourceSet } from '../resources/index.ts';
import { addressesFor } from './addresses.ts';
import type {
  AuthServerPlan,
  ClientAuthPlan,
  KnownClientPlan,
  UpstreamEndpoints,
  UpstreamPlan,
} from './auth-server-plan.ts';
import { planStorage } from './storage.ts';

type VirtualServer = ResourceOf<'VirtualMCPServer'>;
type Config = NonNullable<VirtualServer['spec']['authServerConfig']>;
type Provider = Config['upstreamProviders'][number];
type OidcConfig = NonNullable<Provider['oidcConfig']>;
type OAuth2Config = NonNullable<Provider['oauth2Config']>;
type SecretRef = { readonly name: string; readonly key: string };

export interface AuthServerSources {
  readonly secretOf: (ref: SecretRef) => Secret;
}

/** What is asked for when a manifest says nothing. */
const OIDC_SCOPES = ['openid', 'profile', 'email'];

/** The embedded authorization server of a virtual server, if it declares one. */
export function planAuthServer(
  set: ResourceSet,
  server: VirtualServer,
  { secretOf }: AuthServerSources,
): AuthServerPlan | undefined {
  const { authServerConfig: config, incomingAuth } = server.spec;
  const audience = audienceOf(incomingAuth);
  if (!config || audience === undefined) return undefined; // the validator has asked for both
  const { namespace, name } = server.metadata;
  const { tokenLifespans: spans } = config;
  const [first, ...others] = config.upstreamProviders.map((provider) => planProvider(set, server, provider, secretOf));
  if (!first) return undefined;
  return {
    name: `${namespace}/${name}`,
    issuer: config.issuer,
    ...(config.authorizationEndpointBaseUrl === undefined
      ? {}
      : { authorizationEndpointBase: config.authorizationEndpointBaseUrl.replace(/\/$/, '') }),
    signingKeys: (config.signingKeySecretRefs ?? []).map(secretOf),
    hmacSecrets: (config.hmacSecretRefs ?? []).map(secretOf),
    lifespans: {
      accessToken: seconds(spans.accessTokenLifespan),
      refreshToken: seconds(spans.refreshTokenLifespan),
      login: seconds(spans.loginLifespan),
      authCode: seconds(spans.authCodeLifespan),
    },
    resources: [audience],
    scopes: scopesOf(server),
    consent: config.consent,
    registration: {
      dynamic: config.registration.dynamic,
      metadataDocuments: config.registration.metadataDocuments,
      metadataHosts: config.registration.allowedHosts,
      redirectSchemes: config.registration.redirectSchemes,
    },
    clients: config.clients.map((client): KnownClientPlan => {
      const { clientId, name: title = clientId, redirectUris, clientSecretRef } = client;
      return {
        id: clientId,
        name: title,
        redirectUris,
        ...(clientSecretRef ? { secret: secretOf(clientSecretRef) } : {}),
      };
    }),
    providers: [first, ...others],
    storage: planStorage(config.storage, { namespace, secretOf }),
  };
}

/** What clients may ask for is what the protected resource says it wants. */
function scopesOf({ spec: { incomingAuth } }: VirtualServer): readonly string[] {
  const scopes = [...(incomingAuth.oidcConfigRef?.scopes ?? []), ...(incomingAuth.oidcConfigRef?.requiredScopes ?? [])];
  return [...new Set(['profile', 'email', ...scopes])].filter(
    (scope) => scope !== 'openid' && scope !== 'offline_access',
  );
}

function planProvider(
  set: ResourceSet,
  server: VirtualServer,
  provider: Provider,
  secretOf: AuthServerSources['secretOf'],
): UpstreamPlan {
  const config = provider.oidcConfig ?? provider.oauth2Config;
  if (!config) throw new TypeError(`provider ${provider.name} has no configuration`); // the validator has asked for it
  const bundle = config.caBundleRef?.configMapRef;
  const ca = bundle && set.find('ConfigMap', server.metadata.namespace, bundle.name)?.data?.[bundle.key];
  return {
    name: provider.name,
    required: provider.required,
    clientId: config.clientId,
    clientAuth: clientAuthOf(config, secretOf),
    scopes: config.scopes ?? OIDC_SCOPES,
    offlineIfOffered: provider.oidcConfig !== undefined && provider.oidcConfig.scopes === undefined,
    authorizationParams: config.additionalAuthorizationParams ?? {},
    addresses: addressesFor(
      provider.oidcConfig?.issuerUrl ?? provider.oauth2Config?.tokenEndpoint ?? '',
      config.allowPrivateIPs,
    ),
    ...(ca === undefined ? {} : { ca }),
    endpoints: provider.oidcConfig ? oidcEndpoints(provider.oidcConfig) : oauth2Endpoints(config as OAuth2Config),
    backends: backendsWith(set, server, provider.name),
  };
}

function clientAuthOf(config: OidcConfig | OAuth2Config, secretOf: AuthServerSources['secretOf']): ClientAuthPlan {
  const { clientAuthMethod: method, clientSecretRef, privateKeySecretRef } = config;
  if (privateKeySecretRef) return { kind: 'private_key_jwt', key: secretOf(privateKeySecretRef) };
  if (!clientSecretRef) return { kind: 'none' };
  const kind = method === 'client_secret_basic' || method === 'client_secret_post' ? method : 'secret';
  return { kind, secret: secretOf(clientSecretRef) };
}

function oidcEndpoints({ issuerUrl, subjectClaim }: OidcConfig): UpstreamEndpoints {
  return { kind: 'oidc', issuer: issuerUrl, subjectClaim };
}

function oauth2Endpoints(config: OAuth2Config): UpstreamEndpoints {
  const { authorizationEndpoint, tokenEndpoint, userInfo, tokenResponseMapping: mapping } = config;
  return {
    kind: 'oauth2',
    authorizationEndpoint,
    tokenEndpoint,
    ...(userInfo && {
      userInfo: {
        url: userInfo.endpointUrl,
        method: userInfo.httpMethod,
        headers: userInfo.additionalHeaders ?? {},
        ...userInfo.fieldMapping,
      },
    }),
    ...(mapping && {
      tokenResponse: {
        accessToken: mapping.accessTokenPath,
        refreshToken: mapping.refreshTokenPath ?? 'refresh_token',
        expiresIn: mapping.expiresInPath ?? 'expires_in',
        scope: mapping.scopePath ?? 'scope',
      },
    }),
  };
}

/** The backends that are shown what the user has at a provider. */
function backendsWith(set: ResourceSet, server: VirtualServer, provider: string): readonly string[] {
  return backendsOf(set, server).flatMap((backend) => {
    const spec = externalAuthOf(set, server, backend)?.spec;
    const uses = spec?.upstreamInject?.providerName ?? spec?.tokenExchange?.subjectProviderName;
    return uses === provider ? [backend.metadata.name] : [];
  });
}

/** The validator has seen that the text is a duration. */
function seconds(text: string): number {
  return Math.floor((parseDuration(text) ?? 0) / 1000);
}
