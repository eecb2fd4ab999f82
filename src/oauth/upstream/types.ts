import type { Secret } from '../../base/index.ts';

/** One provider as it was configured. The plan of the authorization server has this shape. */
export interface UpstreamSettings {
  readonly name: string;
  readonly clientId: string;
  readonly clientAuth: ClientAuthSettings;
  readonly scopes: readonly string[];
  /** Asks for `offline_access` as well, if the provider says that it knows it: who does not may refuse the whole request. */
  readonly offlineIfOffered: boolean;
  readonly authorizationParams: Readonly<Record<string, string>>;
  readonly addresses: 'public' | 'private';
  readonly ca?: string;
  readonly endpoints: OidcEndpoints | OAuth2Endpoints;
}

/** `secret` picks basic or post by what the provider says it takes. */
export type ClientAuthSettings =
  | { readonly kind: 'none' }
  | { readonly kind: 'secret' | 'client_secret_basic' | 'client_secret_post'; readonly secret: Secret }
  | { readonly kind: 'private_key_jwt'; readonly key: Secret };

export interface OidcEndpoints {
  readonly kind: 'oidc';
  readonly issuer: string;
  /** The claim of the ID token that names the user. */
  readonly subjectClaim: string;
}

export interface OAuth2Endpoints {
  readonly kind: 'oauth2';
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly userInfo?: UserInfoSettings;
  readonly tokenResponse?: TokenPaths;
}

export interface UserInfoSettings {
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly subjectFields: readonly string[];
  readonly nameFields: readonly string[];
  readonly emailFields: readonly string[];
}

/** Dot paths into a token response. */
export interface TokenPaths {
  readonly accessToken: string;
  readonly refreshToken: string;
  readonly expiresIn: string;
  readonly scope: string;
}

/** Who issued tokens, and where: they are never sent to another place than the one they came from. */
export interface TokenSource {
  /** The issuer of an OpenID provider; a plain OAuth 2 provider is known by its token endpoint only. */
  readonly issuer?: string;
  readonly tokenEndpoint: string;
}

/** What has to be remembered between sending a browser away and its return. */
export interface Leg {
  readonly state: string;
  readonly verifier: string;
  readonly nonce?: string;
  readonly redirectUri: string;
  readonly source: TokenSource;
}

export interface UpstreamTokens {
  readonly accessToken: Secret;
  readonly refreshToken?: Secret;
  readonly idToken?: Secret;
  /** Seconds since 1970. Absent when the provider does not say. */
  readonly expiresAt?: number;
  /** From when on it is time for a new one, ahead of the end. */
  readonly renewAt?: number;
  readonly scopes: readonly string[];
  readonly source: TokenSource;
}

export interface UpstreamIdentity {
  readonly subject: string;
  /** Made from the access token because the provider tells nothing about the user: another one at each login. */
  readonly synthetic: boolean;
  readonly name?: string;
  readonly email?: string;
}

export interface Redeemed {
  readonly tokens: UpstreamTokens;
  readonly identity: UpstreamIdentity;
}

export interface Refreshed {
  /** A new refresh token in here has replaced the old one: store it before anything else. */
  readonly tokens: UpstreamTokens;
  /**
   * Present when an ID token came along, and gives it once it was found good. When it rejects, the new access token is not to be
   * trusted either. It may have to ask the provider for its keys, so nothing may hang on it that could get lost.
   */
  readonly check?: () => Promise<Secret>;
}

/** What a refresh needs to know of the tokens it renews. */
export interface Renewable {
  readonly refreshToken: Secret;
  readonly subject: string;
  readonly scopes: readonly string[];
  readonly source: TokenSource;
}

export interface UpstreamStatus {
  readonly name: string;
  /** `unknown` until it was needed for the first time. */
  readonly state: 'ready' | 'unknown' | 'unavailable';
  /** Why it is not available, and what to do. */
  readonly problem?: string;
}

/** One identity provider, with us as its client. Every failure is an `UpstreamError`. */
export interface Upstream {
  readonly name: string;
  /** Where to send the browser. `state` has to be unguessable and must be used for one leg only. */
  begin(state: string, redirectUri: string): Promise<{ readonly url: URL; readonly leg: Leg }>;
  /** Turns what the browser brought back into tokens and a user. */
  redeem(callback: URLSearchParams, leg: Leg): Promise<Redeemed>;
  refresh(renewable: Renewable): Promise<Refreshed>;
  /** Whether tokens from there are this provider's, as it is configured now. */
  issued(source: TokenSource): boolean;
  /** RFC 7009, where the provider has it; says whether it was asked. */
  revoke(token: Secret, source: TokenSource): Promise<boolean>;
  status(): UpstreamStatus;
  close(): Promise<void>;
}
