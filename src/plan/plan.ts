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
  readonly naming: NamingPlan;
}

/** Boundary 1: how a caller proves who he is. */
export type IncomingPlan = { readonly kind: 'anonymous' };

/** How tools of several backends are kept apart. `bare` is for one backend: nothing is renamed. */
export type NamingPlan = { readonly kind: 'bare' } | { readonly kind: 'prefix'; readonly format: string };

export interface BackendPlan {
  readonly name: string;
  readonly target: BackendTarget;
  readonly credential: CredentialPlan;
  /** How long one request may take, in milliseconds. */
  readonly timeout: number;
}

export type BackendTarget =
  | { readonly kind: 'stdio'; readonly workload: WorkloadKey }
  | {
      readonly kind: 'streamable-http';
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

export const DEFAULT_TIMEOUT = 300_000;

/** The gateways behind one port. Port 0 lets the system choose. */
export interface DoorPlan {
  readonly port: number;
  readonly gateways: readonly GatewayPlan[];
}
