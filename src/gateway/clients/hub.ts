import type { Params } from '../../mcp/index.ts';
import type { Answer, Call, Client, Identity, ListKind } from '../call.ts';

/** What every server says about itself first, before it is put into the words of an era. */
export interface Greeting {
  readonly capabilities: Params;
  readonly serverInfo: Params;
  readonly instructions?: string;
}

export interface HubEvents {
  changed(kinds: ReadonlySet<ListKind>): void;
  updated(uri: string, params: Params): void;
  /** A server said something to the client of this key alone. */
  heard(key: string, method: string, params: Params): void;
}

/** The servers behind, as the client side needs them. */
export interface Hub {
  greeting(): Promise<Greeting>;
  answer(call: Call): Promise<Answer>;
  /** A notification of a client that servers may want to hear. */
  notice(client: Client, method: string, params: Params): void;
  subscribe(uri: string): Promise<void>;
  unsubscribe(uri: string): void;
  watch(events: HubEvents): () => void;
  forget(key: string): void;
  /** Runs the listener when these servers are given up for others. Gives a function that forgets it. */
  onClose(listener: () => void): () => void;
}

/** The servers behind an endpoint, as each caller sees them. */
export interface Hubs {
  of(identity: Identity): Hub;
}
