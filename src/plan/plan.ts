import type { Secret } from '../base/index.ts';
import type { AuthServerPlan } from './auth-server-plan.ts';

/**
 * Where the two roads meet: everything one endpoint needs to know, fully resolved. No YAML, no flags, no references are left
 * in it, and nobody changes it: a new declaration makes a new plan.
 */
export interface GatewayPlan {
  readonly name: string;
  /** The paths the MCP endpoint answers at, the one to show first. */
  readonly paths: readonly [string, ...string[]];
  readonly incoming: IncomingPlan;
  /** The authorization server that runs in this process, for incoming tokens of its own. */
  readonly authServer?: AuthServerPlan;
  readonly backends: readonly BackendPlan[];
  readonly aggregation: AggregationPlan;
  /** The deprecated transport of a single server, where it is the one to show, or where a proxy in front serves it below a prefix. */
  readonly oldSse?: { readonly shown: boolean; readonly prefix: string };
  /** Only POST is taken: no streams of their own, no end of a session. */
  readonly postOnly?: boolean;
}

/** Boundary 1: how a caller proves who he is. */
export type IncomingPlan = { readonly kind: 'anonymous' } | ProtectedPlan;

/** Every way that asks for a token. */
export type ProtectedPlan = OidcPlan | KubernetesPlan | EmbeddedPlan;

interface TokenRules {
  /** Tokens must be meant for it. */
  readonly audience: string;
  /** The public URL of the endpoint (RFC 9728). Without it the URL that a client called by is told. */
  readonly resource?: string;
  /** Told to clients that ask which scopes there are. */
  readonly scopes: readonly string[];
  /** A token without all of these is refused. */
  readonly requiredScopes: readonly string[];
}

/** How the keys of an issuer are reached, and whom its words are believed from. */
interface IssuerAccess {
  /** Found by discovery when not given. */
  readonly jwksUrl?: string;
  /** Where opaque tokens are asked about. */
  readonly introspectionUrl?: string;
  /** PEM certificates to trust besides the system's. */
  readonly ca?: string;
}

/** Tokens of an identity provider elsewhere. */
export interface OidcPlan extends TokenRules, IssuerAccess {
  readonly kind: 'oidc';
  readonly issuer: string;
  /** Who we are at the introspection endpoint. */
  readonly clientId?: string;
  readonly clientSecret?: Secret;
  readonly addresses: 'public' | 'private';
  readonly allowHttp: boolean;
  /** A file with a bearer token for discovery and keys, read anew for each request. */
  readonly tokenFile?: string;
}

/** Service account tokens of the cluster we run in. */
export interface KubernetesPlan extends TokenRules, IssuerAccess {
  readonly kind: 'kubernetes';
  /** Detected when not given. */
  readonly issuer?: string;
  /** Whether the API server is asked with the certificates and the token of our own pod. */
  readonly clusterAuth: boolean;
}

/** Tokens of the authorization server in this process. Its keys are at hand, and a revoked login ends at once. */
export interface EmbeddedPlan extends TokenRules {
  readonly kind: 'embedded';
  readonly issuer: string;
  readonly resource: string;
}

/** One server passed through as it is, or many that look like one. */
export type AggregationPlan =
  | {
      readonly kind: 'single';
      /** What is said about its tools; they pass as they are where nothing is said. */
      readonly tools?: ToolsPlan;
    }
  | {
      readonly kind: 'many';
      readonly conflicts: ConflictPlan;
      /** What is said about the tools of a backend, by its name. */
      readonly tools: ReadonlyMap<string, ToolsPlan>;
      /** Whether tools of a backend that nothing is said about are offered. */
      readonly offerOthers: boolean;
      readonly offerNone: boolean;
    };

/** How entries of the same name are kept apart. */
export type ConflictPlan =
  | { readonly kind: 'prefix'; readonly format: string }
  | { readonly kind: 'priority'; readonly order: readonly string[]; readonly format: string }
  | { readonly kind: 'manual' };

export interface ToolsPlan {
  /** Names after renaming that are offered; all when empty. */
  readonly filter: ReadonlySet<string>;
  /** Changes by the backend's own name of a tool. */
  readonly overrides: ReadonlyMap<string, ToolOverridePlan>;
  readonly excludeAll: boolean;
}

export interface ToolOverridePlan {
  readonly name?: string;
  readonly description?: string;
  readonly annotations?: Readonly<Record<string, unknown>>;
}

export interface BackendPlan {
  readonly name: string;
  readonly target: BackendTarget;
  readonly credential: CredentialPlan;
  /** Which revision the server speaks, or `auto` to ask it. */
  readonly revision: 'auto' | 'legacy' | '2026-07-28';
  /** How long one request may take without a word from the server, in milliseconds. */
  readonly timeout: number;
  readonly breaker: { readonly enabled: boolean; readonly threshold: number; readonly timeout: number };
  /** How often a quiet server is asked whether it lives, how long it may take, and how often it may fail. In milliseconds. */
  readonly health: { readonly interval: number; readonly timeout: number; readonly threshold: number };
}

export type BackendTarget =
  | { readonly kind: 'stdio'; readonly workload: WorkloadKey; readonly shared: boolean }
  | {
      readonly kind: 'streamable-http' | 'sse';
      readonly url: string;
      readonly addresses: 'public' | 'private';
      /** Fixed headers for this server, beside the credential. */
      readonly headers: Readonly<Record<string, string | Secret>>;
      readonly ca?: string;
      /** The server takes POST only, and is never asked anything else. */
      readonly postOnly?: boolean;
      /** The socket file through which the URL is reached, where it is not reached over the network. */
      readonly socket?: string;
      /** The process that answers at the URL, when it is one of ours. */
      readonly workload?: WorkloadKey;
    };

/** Names one workload in one exact form: the same key means the same program, arguments, environment and secrets. */
export type WorkloadKey = string;

/** Boundary 2: the credential this backend gets. */
export type CredentialPlan =
  | { readonly kind: 'none' }
  /** The same for every user. */
  | { readonly kind: 'header'; readonly name: string; readonly value: Secret }
  | { readonly kind: 'bearer'; readonly token: Secret }
  /** The access token that the user has at a provider. */
  | { readonly kind: 'upstream-inject'; readonly provider: string }
  | TokenExchangePlan;

/** A token made for this backend, in exchange for one of the user (RFC 8693). */
export interface TokenExchangePlan {
  readonly kind: 'token-exchange';
  readonly tokenUrl: string;
  readonly clientId?: string;
  readonly clientSecret?: Secret;
  readonly clientAuth: 'client_secret_basic' | 'client_secret_post';
  readonly audience?: string;
  readonly scopes: readonly string[];
  readonly subjectTokenType: 'access_token' | 'id_token' | 'jwt';
  /** The provider whose token is exchanged; the caller's own token when there is none. */
  readonly provider?: string;
  readonly header: string;
  readonly addresses: 'public' | 'private';
  readonly ca?: string;
}

/** The gateways behind one port. Port 0 lets the system choose. */
export interface DoorPlan {
  readonly port: number;
  readonly gateways: readonly GatewayPlan[];
}
