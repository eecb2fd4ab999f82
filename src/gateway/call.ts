import type { SallyError } from '../base/index.ts';
import {
  type Era,
  type LoggingLevel,
  type Params,
  parseMessage,
  type RawParams,
  type RequestId,
  type RpcError,
} from '../mcp/index.ts';

/** Who is asking, as boundary 1 found out. */
export type Identity = { readonly kind: 'anonymous' };

/** The one text that names a caller. Whatever belongs to a caller is kept under it. */
export function principalOf(identity: Identity): string {
  return identity.kind;
}

/** The program on the other side, in its own words: what it speaks, what it can be asked. */
export interface Client {
  readonly era: Era;
  readonly revision: string;
  readonly capabilities: Params;
  readonly info: Params | undefined;
  /** Servers that keep state see one conversation per key. */
  readonly key: string;
  /** The key belongs to this client alone, so its request ids and progress tokens are unique under it. */
  readonly alone: boolean;
  readonly logLevel: LoggingLevel | undefined;
}

/** One MCP request of a known caller. Before boundary 1 there is no Call, so nobody ever asks whether it has an identity. */
export interface Call {
  /** Changes when a call that waited for its user is continued by another request. */
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
  /** The members of `params` as the client wrote them. */
  readonly raw: RawParams | undefined;
  readonly identity: Identity;
  readonly client: Client;
  /** `Mcp-Param-*` headers of the client, to be passed on where no schema explains them. */
  readonly paramHeaders: Readonly<Record<string, string>> | undefined;
  /** Sends the caller a notification that belongs to this call. */
  tell(method: string, params: Params): void;
  /** Puts a question of a server to the caller: a form, a sample, its roots. Throws when it cannot be asked. */
  ask(question: Question): Promise<Told>;
  /** Why nobody waits for the answer any more, once that is so. */
  readonly cancelled: SallyError | undefined;
  /** Runs the listener when the call is cancelled, at once if it already is. Gives a function that forgets it. */
  onCancel(listener: (reason: SallyError) => void): () => void;
}

export interface Question {
  /** What the server calls its question. */
  readonly id: RequestId;
  readonly method: string;
  readonly params: Params;
  /** Aborted when the server does not want to know any more. */
  readonly withdrawn: AbortSignal;
}

/** An answer that was read: JSON-RPC without the envelope, since each hop has its own ids. */
export type Told = { readonly result: Params } | { readonly error: RpcError };

/** What a server says to a request. `unread` is a whole response that nobody had to look into; its bytes can go on as they are. */
export type Answer = Told | { readonly unread: Uint8Array; readonly id: RequestId };

/** Looks into an answer, now that somebody has to. */
export function read(answer: Answer): Told {
  if (!('unread' in answer)) return answer;
  const message = parseMessage(
    Buffer.from(answer.unread.buffer, answer.unread.byteOffset, answer.unread.byteLength).toString('utf8'),
  );
  if ('error' in message && message.error) return { error: message.error };
  return { result: 'result' in message ? (message.result ?? {}) : {} };
}

export type Handle = (call: Call) => Promise<Answer>;

/** One backend's headers for one identity, built from nothing; the caller's own headers are never copied. */
export type Credential = (identity: Identity, signal: AbortSignal) => Promise<Readonly<Record<string, string>>>;

/** What a server says about itself. */
export interface ServerHello {
  readonly era: Era;
  readonly revision: string;
  readonly capabilities: Params;
  readonly serverInfo: Params;
  readonly instructions?: string;
}

/** The kinds of things a server lists. */
export const LIST_KINDS = ['tools', 'resources', 'templates', 'prompts'] as const;
export type ListKind = (typeof LIST_KINDS)[number];

/** A tool, resource, template or prompt as its server describes it. We read what names it and carry the rest untouched. */
export type Item = Readonly<Record<string, unknown>>;
export type Listing = Readonly<Record<ListKind, readonly Item[]>>;

export type BackendState =
  | { readonly kind: 'connecting' }
  | { readonly kind: 'ready' }
  | { readonly kind: 'down'; readonly error: SallyError; readonly since: number };

export interface BackendEvents {
  /** The lists of these kinds are others now. */
  changed(kinds: readonly ListKind[]): void;
  /** A subscribed resource changed. */
  updated(uri: string, params: Params): void;
  /** The server said something in the conversation that it has with one client alone. */
  heard(key: string, method: string, params: Params): void;
}

/** One MCP server, as the hub sees it. */
export interface Backend {
  readonly name: string;
  /** Sends a request for a call and waits for its answer. Throws when no answer comes. */
  request(call: Call, method: string, params: Params): Promise<Answer>;
  /** Tells the server something that concerns this client's conversation with it. */
  notify(client: Client, method: string, params: Params): void;
  /** The newest lists, the last good ones while the server is away; `undefined` before the first. */
  listing(): Listing | undefined;
  hello(): ServerHello | undefined;
  state(): BackendState;
  /** Resolves when the first attempt to connect has ended, well or badly. Never rejects. */
  settled(): Promise<void>;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  watch(events: BackendEvents): () => void;
  /** The client is gone: conversations that were kept for its key can end. */
  forget(key: string): void;
}
