/**
 * The wire vocabulary of MCP: JSON-RPC messages, protocol revisions, event streams. It reads and writes messages and never
 * decides what to do with one.
 */
export { isAnswerTo } from './answer.ts';
export { encodeCall, type Source } from './encode.ts';
export {
  decodeHeaderValue,
  encodeHeaderValue,
  type HeaderParam,
  headerNameOf,
  headerParamsOf,
  mirroredText,
} from './headers.ts';
export {
  type ClientMessage,
  isNotification,
  isObject,
  isRequest,
  isResponse,
  type Params,
  parseClientMessage,
  parseMessage,
  type RequestId,
  type RpcError,
  type RpcMessage,
  type RpcNotification,
  type RpcRequest,
  type RpcResponse,
} from './json-rpc.ts';
export {
  isLoggingLevel,
  isLoudEnough,
  type LoggingLevel,
  META,
  metaOf,
  withMeta,
  withoutHopMeta,
} from './meta.ts';
export {
  agreeOnRevision,
  type Era,
  isAtLeast,
  isLegacyRevision,
  LATEST_LEGACY,
  LEGACY_REVISIONS,
  MODERN_REVISION,
  OLDEST_REVISION,
} from './revisions.ts';
export { errorResponse, toRpcError } from './rpc-error.ts';
export { type Event, readEvents } from './sse.ts';
export type { RawParams } from './strict-json.ts';
