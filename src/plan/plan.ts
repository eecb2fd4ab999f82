import type { Secret } from '../base/index.ts';

/**
 * Where the two roads meet: everything one endpoint needs to know, fully resolved. No YAML, no flags, no references are left
 * in it, and nobody changes it: a new declaration makes a new plan.
 */
export interface GatewayPlan {
  readonly name: string;
  /** The paths the MCP endpoint answers at, the one to show first. */
  readonly paths: readonly [string, ...string[]];
  readonly incoming: IncomingPlan;
  readonly backends: readonly BackendPlan[];
  readonly aggregation: AggregationPlan;
}

/** Boundary 1: how a caller proves who he is. */
export type IncomingPlan = { readonly kind: 'anonymous' };

/** One server passed through as it is, or many that look like one. */
export type AggregationPlan =
  | { readonly kind: 'single' }
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
      /** The process that answers at the URL, when it is one of ours. */
      readonly workload?: WorkloadKey;
    };

/** Names one workload in one exact form: the same key means the same program, arguments, environment and secrets. */
export type WorkloadKey = string;

/** Boundary 2: the credential this backend gets. */
export type CredentialPlan = { readonly kind: 'none' };

/** The gateways behind one port. Port 0 lets the system choose. */
export interface DoorPlan {
  readonly port: number;
  readonly gateways: readonly GatewayPlan[];
}
