import type { Secret } from '../base/index.ts';
import type { RedisPlan } from './redis-plan.ts';

/** The embedded authorization server, fully resolved. Times are in seconds. */
export interface AuthServerPlan {
  /** Keeps the records of several servers in one store apart: `namespace/name` of the virtual server. */
  readonly name: string;
  readonly issuer: string;
  /** Replaces the base of `authorization_endpoint` in the discovery documents, and of nothing else. */
  readonly authorizationEndpointBase?: string;
  /** Private keys as PEM or JWK. The first signs, all are published. Empty: made at the start, gone with the process. */
  readonly signingKeys: readonly Secret[];
  /** What codes, refresh tokens and stored rows are keyed and sealed with. The first writes, all read. */
  readonly hmacSecrets: readonly Secret[];
  readonly lifespans: {
    readonly accessToken: number;
    /** Starts anew with each rotation. */
    readonly refreshToken: number;
    /** Never later than this after the login, however often the refresh token was rotated. */
    readonly login: number;
    readonly authCode: number;
  };
  /** What tokens may be issued for: the resource URLs of the endpoints (RFC 8707). The first is meant when a client names none. */
  readonly resources: readonly [string, ...string[]];
  /** Scopes a client may ask for, besides `openid` and `offline_access`. */
  readonly scopes: readonly string[];
  /** `remember` asks a browser once for each client and redirect address; `skip` is for development only. */
  readonly consent: 'always' | 'remember' | 'skip';
  readonly registration: {
    readonly dynamic: boolean;
    readonly metadataDocuments: boolean;
    /** Hosts whose client metadata documents are fetched; all when empty. */
    readonly metadataHosts: readonly string[];
    /** Private-use schemes of native apps beyond the ones we know, such as `com.example.app`. */
    readonly redirectSchemes: readonly string[];
  };
  /** Clients that were agreed on beforehand. They are not asked for consent. */
  readonly clients: readonly KnownClientPlan[];
  /** In the order in which a login visits them. */
  readonly providers: readonly [UpstreamPlan, ...UpstreamPlan[]];
  readonly storage: StoragePlan;
}

export interface KnownClientPlan {
  readonly id: string;
  readonly name: string;
  readonly redirectUris: readonly string[];
  readonly secret?: Secret;
}

export type StoragePlan = { readonly kind: 'memory' } | RedisPlan;

/** One identity provider that users are sent to. */
export interface UpstreamPlan {
  readonly name: string;
  /** A login visits it; otherwise it is connected when a tool first needs it. */
  readonly required: boolean;
  readonly clientId: string;
  readonly clientAuth: ClientAuthPlan;
  readonly scopes: readonly string[];
  /** Asks for `offline_access` as well where the provider lists it: without it some give no refresh token, others refuse it. */
  readonly offlineIfOffered: boolean;
  /** Further parameters of the authorization request, such as `access_type=offline`. */
  readonly authorizationParams: Readonly<Record<string, string>>;
  /** Whether it may answer at an address of a private network. */
  readonly addresses: 'public' | 'private';
  readonly ca?: string;
  readonly endpoints: UpstreamEndpoints;
  /** The backends that are shown its tokens, to tell the user what he agrees to. */
  readonly backends: readonly string[];
}

/** How we prove to a provider that we are its client. `secret` picks basic or post by what the provider says it takes. */
export type ClientAuthPlan =
  | { readonly kind: 'none' }
  | { readonly kind: 'secret' | 'client_secret_basic' | 'client_secret_post'; readonly secret: Secret }
  | { readonly kind: 'private_key_jwt'; readonly key: Secret };

export type UpstreamEndpoints =
  | {
      readonly kind: 'oidc';
      readonly issuer: string;
      /** The claim of the ID token that names the user. */
      readonly subjectClaim: string;
    }
  | {
      readonly kind: 'oauth2';
      readonly authorizationEndpoint: string;
      readonly tokenEndpoint: string;
      readonly userInfo?: UserInfoPlan;
      readonly tokenResponse?: TokenResponsePlan;
    };

export interface UserInfoPlan {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly subjectFields: readonly string[];
  readonly nameFields: readonly string[];
  readonly emailFields: readonly string[];
}

/** Dot paths into the token response of a provider that nests what others have at the top. */
export interface TokenResponsePlan {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresIn: string;
  readonly scope: string;
}
