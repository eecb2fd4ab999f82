import type { SallyError } from '../base/index.ts';
import type { Params, RequestId, RpcError, RpcResponse } from '../mcp/index.ts';

/** Who is asking, as boundary 1 found out. */
export type Identity = { readonly kind: 'anonymous' };

/** One MCP message of a known caller. Before boundary 1 there is no Call, so nobody ever asks whether it has an identity. */
export interface Call {
  /** Missing on a notification. */
  readonly id: RequestId | undefined;
  readonly method: string;
  readonly params: Params;
  readonly identity: Identity;
  /** Aborted when the caller is gone. */
  readonly signal: AbortSignal;
}

/** What a server says to a request: JSON-RPC without the envelope, since each hop has its own ids. */
export type Answer = { readonly result: Params } | { readonly error: RpcError };

/** The answer to a request, or the bare word that a notification was taken. */
export type Reply = { readonly kind: 'unary'; readonly message: RpcResponse } | { readonly kind: 'accepted' };

export type Handle = (call: Call) => Promise<Reply>;

/** One backend's headers for one identity, built from nothing; the caller's own headers are never copied. */
export type Credential = (identity: Identity, signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;

/** A tool as its server describes it. We read the name and carry the rest untouched. */
export interface Tool {
  readonly name: string;
  readonly [field: string]: unknown;
}

/** What a server says about itself when a conversation opens. */
export interface ServerHello {
  readonly capabilities: Params;
  readonly serverInfo: Params;
  readonly instructions?: string;
}

export type BackendState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'ready'; readonly tools: number }
  | { readonly kind: 'down'; readonly error: SallyError };

/** One MCP server, as the hub sees it. */
export interface Backend {
  readonly name: string;
  /** Sends one request and waits for its answer. Throws when no answer comes. */
  request(method: string, params: Params, identity: Identity, signal: AbortSignal): Promise<Answer>;
  /** The newest list of tools, the last good one while the server is away. Waits only before the first. */
  tools(signal: AbortSignal): Promise<readonly Tool[]>;
  hello(signal: AbortSignal): Promise<ServerHello>;
  state(): BackendState;
  /** Resolves when the first attempt to connect has ended, well or badly. Never rejects. */
  settled(): Promise<BackendState>;
}
