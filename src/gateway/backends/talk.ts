import type { SallyError } from '../../base/index.ts';
import type { Params } from '../../mcp/index.ts';
import type { Answer, Call, Client, Identity, ServerHello } from '../call.ts';

/** One conversation with a server. */
export interface Talk {
  readonly hello: ServerHello;
  request(call: Call, method: string, params: Params): Promise<Answer>;
  notify(method: string, params: Params): void;
  /** Has the server tell of these resources and no others. Missing where each is subscribed to by a request of its own. */
  subscribe?(uris: readonly string[]): Promise<void>;
  /** Resolves with the reason when the conversation is over. Never rejects. */
  readonly ended: Promise<SallyError>;
  close(): Promise<void>;
}

/** What a server says that belongs to no call. */
export type Heard = (method: string, params: Params) => void;

/** For whom a conversation is opened. */
export interface Opening {
  readonly client: Client;
  readonly identity: Identity;
  readonly heard: Heard;
  /** The gateway's own conversation: it wants to hear of changes even when nobody calls. */
  readonly home: boolean;
}

/** The way to one server. */
export interface Transport {
  open(opening: Opening, signal: AbortSignal): Promise<Talk>;
  /** All clients share one conversation, because there is only one process and it knows no sessions. */
  readonly shared: boolean;
  close(): Promise<void>;
}

/** How to reach the arguments of a tool that are repeated as headers. */
export type HeaderParamsOf = (tool: string) => readonly { readonly header: string; readonly path: readonly string[] }[];
