/** What a registry says about a server, in our own words, whatever format it came in. */
export interface RegistryEntry {
  /** `dev.acme/notes`, or one word in the built-in catalogue. */
  readonly name: string;
  readonly title?: string;
  readonly description: string;
  readonly version?: string;
  readonly repository?: string;
  readonly status: 'active' | 'deprecated';
  readonly tier?: 'official' | 'community';
  readonly stars?: number;
  readonly tags: readonly string[];
  /** Names of its tools, where the registry knows them. */
  readonly tools: readonly string[];
  /** How it can be run here, as the publisher ordered them. */
  readonly ways: readonly Way[];
  /** Ways that the publisher offers and that cannot be taken here, each with the reason. */
  readonly refused: readonly string[];
}

export type Transport = 'stdio' | 'sse' | 'streamable-http';

/** A server as a program of a package index, as a container image, or elsewhere on the network. */
export type Way = LocalWay | RemoteWay;

export interface LocalWay {
  readonly kind: 'package' | 'image';
  /** `npx://name@1.2.3`, `uvx://name@1.2.3`, or an image reference. */
  readonly server: string;
  readonly transport: Transport;
  readonly targetPort?: number;
  readonly args: readonly string[];
  /** Arguments that the server needs and only the user knows. */
  readonly missingArgs: readonly MissingArgument[];
  readonly env: readonly Declaration[];
  readonly permissions?: Permissions;
  readonly provenance?: Provenance;
}

export interface RemoteWay {
  readonly kind: 'remote';
  readonly server: string;
  readonly transport: 'sse' | 'streamable-http';
  readonly headers: readonly Declaration[];
  readonly env: readonly Declaration[];
  readonly oauth?: RegistryOAuth;
}

export interface MissingArgument {
  readonly name: string;
  readonly description?: string;
}

/** A variable or a header that the server wants. */
export interface Declaration {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly secret: boolean;
  readonly default?: string;
  readonly choices?: readonly string[];
  /** What surrounds the value that is asked for, as in `Bearer {}`. */
  readonly template?: string;
}

/** A permission profile, with the names that files of it use. */
export interface Permissions {
  readonly read?: readonly string[];
  readonly write?: readonly string[];
  readonly network?: {
    readonly mode?: string;
    readonly outbound?: {
      readonly insecure_allow_all?: boolean;
      readonly allow_host?: readonly string[];
      readonly allow_port?: readonly number[];
    };
    readonly inbound?: { readonly allow_host?: readonly string[] };
  };
  readonly privileged?: boolean;
}

/** Who built and signed an image. */
export interface Provenance {
  readonly sigstore_url?: string | undefined;
  readonly repository_uri?: string | undefined;
  readonly repository_ref?: string | undefined;
  readonly signer_identity?: string | undefined;
  readonly runner_environment?: string | undefined;
  readonly cert_issuer?: string | undefined;
  readonly attestation?: { readonly predicate_type?: string | undefined; readonly predicate?: unknown } | undefined;
}

export interface RegistryOAuth {
  readonly issuer?: string;
  readonly authorize_url?: string;
  readonly token_url?: string;
  readonly resource?: string;
  readonly scopes?: readonly string[];
  readonly callback_port?: number;
  readonly use_pkce?: boolean;
  readonly oauth_params?: Readonly<Record<string, string>>;
}

/** An entry that was left out, and why. */
export interface EntryProblem {
  /** Where it stands: `servers[3]`, with its name when it can be read. */
  readonly at: string;
  readonly name?: string;
  readonly says: string;
}

export interface Reading {
  readonly entries: readonly RegistryEntry[];
  readonly problems: readonly EntryProblem[];
}
