import { type ErrorCode, SallyError, type Secret } from '../base/index.ts';
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
export type Identity = { readonly kind: 'anonymous' } | User;

/** Somebody whose token was found good. */
export interface User {
  readonly kind: 'user';
  readonly issuer: string;
  readonly subject: string;
  /** The program that the token was issued to, where the issuer says so. */
  readonly clientId?: string;
  readonly scopes: readonly string[];
  readonly claims: Readonly<Record<string, unknown>>;
  /** In milliseconds since 1970. */
  readonly expiresAt: number;
  /** The login at our own authorization server that the token belongs to. */
  readonly grant?: string;
  readonly token: Secret;
}

/**
 * The one text that names a caller. Whatever belongs to a caller is kept under it. Two callers never share one: parts of a
 * JSON array cannot run into each other, whatever an issuer writes into them.
 */
export function principalOf(identity: Identity): string {
  if (identity.kind === 'anonymous') return identity.kind;
  return JSON.stringify([identity.issuer, identity.subject, identity.clientId ?? null]);
}

/** Names one login of one caller. What is made with the credentials of that login is shared with nobody, not even his other logins. */
export function ownerOf(identity: Identity): string {
  if (identity.kind === 'anonymous' || identity.grant === undefined) return principalOf(identity);
  return JSON.stringify([principalOf(identity), identity.grant]);
}

/** Boundary 1 said no. The HTTP edge makes a challenge of it (RFC 6750 §3, RFC 9449 §7.1). */
export class CallerRefused extends SallyError {
  readonly challenge: Challenge;

  constructor(code: ErrorCode & `incoming.${string}`, message: string, challenge: Challenge) {
    super(code, message);
    this.challenge = challenge;
  }
}

export interface Challenge {
  /** RFC 6750 §3.1: left out when nothing was presented. */
  readonly error?: 'invalid_token' | 'insufficient_scope' | 'invalid_request' | 'invalid_dpop_proof';
  readonly scopes: readonly string[];
  /** The caller spoke DPoP or has to. */
  readonly dpop: boolean;
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

/** What a server says to a request. `unread` is a whole response that nobody had to look into; its text can go on as it is. */
export type Answer = Told | { readonly unread: string; readonly id: RequestId };

/** Looks into an answer, now that somebody has to. */
export function read(answer: Answer): Told {
  if (!('unread' in answer)) return answer;
  const message = parseMessage(answer.unread);
  if ('error' in message && message.error) return { error: message.error };
  return { result: 'result' in message ? (message.result ?? {}) : {} };
}

export type Handle = (call: Call) => Promise<Answer>;

/** Boundary 2 of one backend: headers for an identity, built from nothing; the caller's own headers are never copied. */
export interface Credential {
  headers(identity: Identity): CredentialHeaders | Promise<CredentialHeaders>;
  /** The server did not take these headers (HTTP 401). Gives others, or `undefined` when there are none. */
  renew?(identity: Identity, refused: CredentialHeaders): Promise<CredentialHeaders | undefined>;
  /** Nobody shows it any more. */
  close?(): Promise<void>;
}
export type CredentialHeaders = Readonly<Record<string, string>>;

/** What the authorization server in this process keeps for its users, as boundary 2 needs it. */
export interface UpstreamTokens {
  /**
   * The access token that a user has at a provider, good at this moment. `refused` is one that a server did not take: there
   * is another one then, or a login is needed. There is no way to ask for a token without saying whose.
   */
  accessToken(user: User, provider: string, refused: Secret | undefined): Secret | Promise<Secret>;
}

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
  /** Where only a login was missing, sees at once whether it has been made. Resolves when that is known. Never rejects. */
  lookAgain(): Promise<void>;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): Promise<void>;
  watch(events: BackendEvents): () => void;
  /** The client is gone: conversations that were kept for its key can end. */
  forget(key: string): void;
}

/** A backend as a gateway has it: the same for everybody, or another one for each login because its credential is. */
export interface BackendSource {
  readonly name: string;
  readonly personal: boolean;
  /** The backend that this caller talks to. */
  lease(identity: Identity): BackendLease;
}

export interface BackendLease {
  readonly backend: Backend;
  /** The same caller came again, perhaps with a newer token. */
  seen(identity: Identity): void;
  release(): void;
}
