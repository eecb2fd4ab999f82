import type { SallyError } from '../../base/index.ts';
import type { Params, RpcNotification } from '../../mcp/index.ts';
import type { Answer, Identity } from '../call.ts';

/** The way to one server. It can be dialled again after a conversation broke off. */
export interface Link {
  dial(signal: AbortSignal): Promise<Talk>;
  close(): Promise<void>;
}

/** One conversation with a server. What the server says unasked goes to the `Heard` the link was made with. */
export interface Talk {
  request(method: string, params: Params, identity: Identity, signal: AbortSignal): Promise<Answer>;
  notify(method: string, params: Params, identity: Identity): Promise<void>;
  /** Resolves with the reason when the conversation is over. Never rejects. */
  readonly ended: Promise<SallyError>;
  close(): Promise<void>;
}

export type Heard = (notification: RpcNotification) => void;
