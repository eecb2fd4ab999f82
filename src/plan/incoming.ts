import { given, type Secret } from '../base/index.ts';
import {
  audienceOf,
  DEFAULT_KUBERNETES_AUDIENCE,
  type IncomingAuth,
  type ResourceOf,
  type ResourceSet,
} from '../resources/index.ts';
import type { IncomingPlan, OidcPlan } from './plan.ts';

type OidcConfig = NonNullable<IncomingAuth['oidcConfig']>;
type IssuerSettings = NonNullable<ResourceOf<'MCPOIDCConfig'>['spec']['inline']>;

export interface IncomingSources {
  readonly secretOf: (namespace: string, ref: { readonly name: string; readonly key: string }) => Secret;
  /** Certificates to trust for every issuer, besides the system's. */
  readonly ca?: string;
}

/** An endpoint and how callers prove there who they are. */
export interface IncomingPlace {
  readonly namespace: string;
  readonly incomingAuth: IncomingAuth;
  /** The issuer of the authorization server that the endpoint has for itself. */
  readonly ownIssuer: string | undefined;
}

/** Boundary 1 of an endpoint. The validator has seen that what each type needs is there. */
export function planIncoming(set: ResourceSet, place: IncomingPlace, sources: IncomingSources): IncomingPlan {
  const { namespace, incomingAuth, ownIssuer } = place;
  const { oidcConfig, oidcConfigRef } = incomingAuth;
  if (incomingAuth.type === 'anonymous') return { kind: 'anonymous' };
  if (oidcConfig) return planOidcConfig(oidcConfig, (settings) => accessOf(set, namespace, settings, sources), sources);

  const audience = audienceOf(incomingAuth);
  if (!oidcConfigRef || audience === undefined) throw new TypeError('oidc without its settings');
  const { scopes, requiredScopes, resourceUrl } = oidcConfigRef;
  if (ownIssuer !== undefined) {
    return { kind: 'embedded', issuer: ownIssuer, audience, resource: audience, scopes, requiredScopes };
  }
  const settings = set.find('MCPOIDCConfig', namespace, oidcConfigRef.name)?.spec.inline;
  if (!settings) throw new TypeError(`MCPOIDCConfig/${oidcConfigRef.name} has no settings`);
  return {
    kind: 'oidc',
    audience,
    scopes,
    requiredScopes,
    ...resourceOf(resourceUrl, audience),
    ...accessOf(set, namespace, settings, sources),
  };
}

type Access = Omit<OidcPlan, 'kind' | 'audience' | 'scopes' | 'requiredScopes' | 'resource'>;

function planOidcConfig(
  { inline, kubernetes, resourceUrl }: OidcConfig,
  accessOf: (settings: IssuerSettings) => Access,
  { ca }: IncomingSources,
): IncomingPlan {
  if (inline) {
    const { audience, scopes, requiredScopes } = inline;
    const rules = { audience, scopes, requiredScopes, ...resourceOf(resourceUrl, audience) };
    return { kind: 'oidc', ...rules, ...accessOf(inline) };
  }
  const {
    audience = DEFAULT_KUBERNETES_AUDIENCE,
    issuer,
    jwksUrl,
    introspectionUrl,
    useClusterAuth,
  } = kubernetes ?? {};
  return {
    kind: 'kubernetes',
    audience,
    scopes: ['openid'],
    requiredScopes: [],
    clusterAuth: useClusterAuth ?? true,
    ...resourceOf(resourceUrl, audience),
    ...given({ issuer, jwksUrl, introspectionUrl, ca }),
  };
}

function accessOf(
  set: ResourceSet,
  namespace: string,
  settings: IssuerSettings,
  { secretOf, ca: common }: IncomingSources,
): Access {
  const { issuer, clientId, clientSecretRef, jwksUrl, introspectionUrl, jwksAuthTokenPath, caBundleRef } = settings;
  const bundle = caBundleRef?.configMapRef;
  const own = bundle && set.find('ConfigMap', namespace, bundle.name)?.data?.[bundle.key];
  const certificates = [own, common].filter((pem) => pem !== undefined);
  return {
    issuer,
    addresses: settings.jwksAllowPrivateIP ? 'private' : 'public',
    allowHttp: settings.insecureAllowHTTP,
    ...given({
      clientId,
      clientSecret: clientSecretRef && secretOf(namespace, clientSecretRef),
      jwksUrl,
      introspectionUrl,
      tokenFile: jwksAuthTokenPath,
      ca: certificates.length > 0 ? certificates.join('\n') : undefined,
    }),
  };
}

/** RFC 8707: an audience that is a URL is the public URL of the server it is meant for. */
export function resourceOf(resourceUrl: string | undefined, audience: string): { readonly resource?: string } {
  const resource =
    resourceUrl ?? (/^https?:\/\/[^#]+$/.test(audience) && URL.canParse(audience) ? audience : undefined);
  return given({ resource });
}
