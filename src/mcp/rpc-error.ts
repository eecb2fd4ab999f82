import { toSallyError } from '../base/index.ts';
import type { RequestId, RpcError, RpcResponse } from './json-rpc.ts';

/** The JSON-RPC edge: what a client reads of an error. Texts of bugs stay inside, an id leads to them in the log. */
export function toRpcError(thrown: unknown, incident?: string): RpcError {
  const error = toSallyError(thrown);
  const { rpc, expose, inner, means } = error.face;
  if (!expose) return { code: rpc, message: incident ? `internal error (${incident})` : 'internal error' };
  if (inner) return { code: rpc, message: means, data: { code: error.code } };
  const hint = error.hint === undefined ? {} : { hint: error.hint };
  return { code: rpc, message: error.message, data: { ...error.data, code: error.code, ...hint } };
}

export function errorResponse(id: RequestId | undefined, error: RpcError): RpcResponse {
  return id === undefined ? { jsonrpc: '2.0', error } : { jsonrpc: '2.0', id, error };
}
