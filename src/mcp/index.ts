/**
 * The wire vocabulary of MCP: JSON-RPC messages, protocol revisions, event streams. It reads and writes messages and never
 * decides what to do with one.
 */
export {
  isNotification,
  isObject,
  isRequest,
  isResponse,
  type Params,
  parseMessage,
  type RequestId,
  type RpcError,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from './json-rpc.ts';
export { agreeOnRevision, isRevision, LATEST_REVISION, REVISIONS, type Revision } from './revisions.ts';
export { errorResponse, toRpcError } from './rpc-error.ts';
export { readEvents } from './sse.ts';
