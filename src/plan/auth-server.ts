import { parseDuration, type Secret } from '../base/index.ts';
import type { AuthServerConfig, ResourceSet } from '../resources/index.ts';
import { addressesFor } from './addresses.ts';
import type {
  AuthServerPlan,
  ClientAuthPlan,
  KnownClientPlan,
  UpstreamEndpoints,
  UpstreamPlan,
} from './auth-server-plan.ts';
import { planStorage } from './storage.ts';

type Provider = AuthServerConfig['upstreamProviders'][number];
type OidcConfig = NonNullable<Provider['oidcConfig']>;
type OAuth2Config = NonNullable<Provider['oauth2Config']>;
type SecretRef = { readonly name: string; readonly key: string };

/** An endpoint with an authorization server of its own. */
export interface AuthServerPlace {
  readonly set: ResourceSet;
  readonly namespace: string;
  /** Keeps its records apart from those of others in the same store. */
  readonly name: string;
  readonly config: AuthServerConfig;
  /** What its tokens are for. */
  readonly audience: string;
  /** What the protected resource says it wants, and what it insists on. */
  readonly scopes: readonly string[];
  /** The backends that are shown what the user has at a provider. */
  readonly backendsWith: (provider: string) => readonly string[];
  readonly secretOf: (ref: SecretRef) => Secret;
}

/** What is asked for when a manifest says nothing. */
const OIDC_SCOPES = ['openid', 'profile', 'email'];

/** The validator has seen that there is a provider, and that the issuer is the one that is asked for. */
export function planAuthServer(place: AuthServerPlace): AuthServerPlan {
  const { name, namespace, config, audience, secretOf } = place;
  const { tokenLifespans: spans } = config;
  const [first, ...others] = config.upstreamProviders.map((provider) => planProvider(place, provider));
  if (!first) throw new TypeError(`the authorization server ${name} has no provider`);
  return {
    name,
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
    scopes: offered(place.scopes),
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
function offered(scopes: readonly string[]): readonly string[] {
  return [...new Set(['profile', 'email', ...scopes])].filter(
    (scope) => scope !== 'openid' && scope !== 'offline_access',
  );
}

function planProvider({ set, namespace, secretOf, backendsWith }: AuthServerPlace, provider: Provider): UpstreamPlan {
  const config = provider.oidcConfig ?? provider.oauth2Config;
  if (!config) throw new TypeError(`provider ${provider.name} has no configuration`); // the validator has asked for it
  const bundle = config.caBundleRef?.configMapRef;
  const ca = bundle && set.find('ConfigMap', namespace, bundle.name)?.data?.[bundle.key];
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
    backends: backendsWith(provider.name),
  };
}

function clientAuthOf(config: OidcConfig | OAuth2Config, secretOf: AuthServerPlace['secretOf']): ClientAuthPlan {
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

/** The validator has seen that the text is a duration. */
function seconds(text: string): number {
  return Math.floor((parseDuration(text) ?? 0) / 1000);
}
