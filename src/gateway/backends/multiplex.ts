import type { SallyError } from '../../base/index.ts';
import {
  encodeCall,
  isNotification,
  isRequest,
  metaOf,
  type Params,
  type RequestId,
  type RpcMessage,
  withMeta,
} from '../../mcp/index.ts';
import { type Answer, type Call, principalOf, type Told } from '../call.ts';
import { createQuestions } from './questions.ts';
import type { Heard } from './talk.ts';

/** Questions that come within this many milliseconds come from the same call. */
const TOGETHER = 100;

interface Pending {
  readonly call: Call;
  /** Questions of the server that this call is waiting for, and when the last one came. */
  asking: number;
  askedAt: number;
  readonly resolve: (told: Told) => void;
  readonly reject: (error: SallyError) => void;
}

/** Many calls over one pair of pipes: requests out, and everything that comes back sorted to the call it belongs to. */
export interface Multiplex {
  request(call: Call, method: string, params: Params): Promise<Answer>;
  notify(method: string, params: Params): void;
  receive(message: RpcMessage): void;
  readonly ended: Promise<SallyError>;
  end(error: SallyError): void;
}

export function createMultiplex(send: (text: string) => void, heard: Heard): Multiplex {
  const pending = new Map<number, Pending>();
  const ended = Promise.withResolvers<SallyError>();
  const questions = createQuestions();
  let over: SallyError | undefined;
  let nextId = 1;

  /**
   * Messages carry no mark of the call they belong to. One call under way leaves no doubt. Of several calls of one person, those
   * that wait for an answer are not the ones that speak. With several people, guessing would show one the other's business.
   */
  function speaking(): Pending | undefined {
    const calls = [...pending.values()].filter(({ call }) => call.client.key !== 'gateway');
    const [first] = calls;
    if (calls.length <= 1 || !first) return first;
    if (calls.some(({ call }) => principalOf(call.identity) !== principalOf(first.call.identity))) return undefined;
    const active = calls.filter(({ asking }) => asking === 0);
    if (active.length > 0) return active.length === 1 ? active[0] : undefined;
    const justNow = performance.now() - TOGETHER;
    return calls.filter(({ askedAt }) => askedAt > justNow).sort((a, b) => b.askedAt - a.askedAt)[0];
  }

  async function answerQuestion(id: RequestId, method: string, params: Params): Promise<void> {
    const asker = speaking();
    if (asker) {
      asker.asking += 1;
      asker.askedAt = performance.now();
    }
    const told = await questions.answer(id, method, params, asker?.call);
    if (asker) asker.asking -= 1;
    if (!over) send(JSON.stringify({ jsonrpc: '2.0', id, ...told }));
  }

  function hear(method: string, params: Params): void {
    switch (method) {
      case 'notifications/progress': {
        const waiting = pending.get(Number(params.progressToken));
        const token = waiting && metaOf(waiting.call.params)?.progressToken;
        if (waiting && token !== undefined) waiting.call.tell(method, { ...params, progressToken: token });
        return;
      }
      case 'notifications/message':
        speaking()?.call.tell(method, params);
        return;
      case 'notifications/cancelled':
        questions.withdraw(params.requestId);
        return;
      default:
        heard(method, params);
    }
  }

  return {
    ended: ended.promise,

    end(error) {
      if (over) return;
      over = error;
      ended.resolve(error);
      for (const { reject } of pending.values()) reject(error);
      pending.clear();
    },

    receive(message) {
      if (isNotification(message)) return hear(message.method, message.params ?? {});
      if (isRequest(message)) {
        void answerQuestion(message.id, message.method, message.params ?? {});
        return;
      }
      // An answer nobody waits for: its caller gave up, or the server counts differently than we do.
      const waiting = typeof message.id === 'number' ? pending.get(message.id) : undefined;
      if (!waiting) return;
      pending.delete(message.id as number);
      waiting.resolve(message.error ? { error: message.error } : { result: message.result ?? {} });
    },

    request(call, method, params) {
      if (over) return Promise.reject(over);
      const id = nextId++;
      return new Promise((resolve, reject) => {
        const forget = call.onCancel((reason) => {
          if (!pending.delete(id)) return;
          // The handshake is the one request that may not be cancelled (MCP lifecycle).
          if (method !== 'initialize')
            send(encodeCall(undefined, 'notifications/cancelled', { requestId: id, reason: reason.message }));
          reject(reason);
        });
        if (call.cancelled) return;
        pending.set(id, {
          call,
          asking: 0,
          askedAt: 0,
          resolve: (told) => {
            forget();
            resolve(told);
          },
          reject: (error) => {
            forget();
            reject(error);
          },
        });
        // Tokens of different clients may be equal; ours are not.
        const hasToken = metaOf(params)?.progressToken !== undefined;
        send(encodeCall(id, method, hasToken ? withMeta(params, { progressToken: id }) : params, call));
      });
    },

    notify(method, params) {
      if (!over) send(encodeCall(undefined, method, params));
    },
  };
}
