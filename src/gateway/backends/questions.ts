import { SallyError } from '../../base/index.ts';
import { type Params, type RequestId, toRpcError } from '../../mcp/index.ts';
import type { Call, Told } from '../call.ts';

/** Requests of a server that we pass on to the caller, and that the server may take back. */
export interface Questions {
  /** Answers a request of the server. Without a call there is nobody who could be asked. */
  answer(id: RequestId, method: string, params: Params, call: Call | undefined): Promise<Told>;
  withdraw(id: unknown): void;
}

export function createQuestions(): Questions {
  const open = new Map<RequestId, AbortController>();
  return {
    async answer(id, method, params, call) {
      if (method === 'ping') return { result: {} };
      if (!call) return { error: { code: -32601, message: `${method} is not available outside of a call` } };
      const withdrawn = new AbortController();
      open.set(id, withdrawn);
      try {
        return await call.ask({ id, method, params, withdrawn: withdrawn.signal });
      } catch (thrown) {
        return { error: toRpcError(thrown) };
      } finally {
        open.delete(id);
      }
    },
    withdraw(id) {
      if (typeof id !== 'string' && typeof id !== 'number') return;
      open.get(id)?.abort(new SallyError('call.cancelled', 'the server took its question back'));
    },
  };
}
