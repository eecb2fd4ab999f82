import { SallyError } from '../base/index.ts';

export type RequestId = string | number;
export type Params = Readonly<Record<string, unknown>>;

export interface RpcRequest {
  readonly jsonrpc: '2.0';
  readonly id: RequestId;
  readonly method: string;
  readonly params?: Params;
}

export interface RpcNotification {
  readonly jsonrpc: '2.0';
  readonly method: string;
  readonly params?: Params;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

/** Exactly one of `result` and `error`. The id is missing only on an error about a message nobody could read. */
export interface RpcResponse {
  readonly jsonrpc: '2.0';
  readonly id?: RequestId;
  readonly result?: Params;
  readonly error?: RpcError;
}

export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

export function isRequest(message: RpcMessage): message is RpcRequest {
  return 'method' in message && 'id' in message;
}

export function isNotification(message: RpcMessage): message is RpcNotification {
  return 'method' in message && !('id' in message);
}

export function isResponse(message: RpcMessage): message is RpcResponse {
  return !('method' in message);
}

/** One JSON-RPC message out of a text, or a refusal that says what is wrong with it. Batches are refused: MCP dropped them. */
export function parseMessage(text: string): RpcMessage {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new SallyError('call.parse_error', 'the message is not JSON', { cause });
  }
  if (Array.isArray(value)) throw invalid('batches are not part of MCP, send one message at a time');
  if (!isObject(value)) throw invalid('a message is a JSON object');
  return checkMessage(value);
}

function checkMessage(value: Record<string, unknown>): RpcMessage {
  if (value.jsonrpc !== '2.0') throw invalid('"jsonrpc" must be "2.0"');
  const hasId = 'id' in value;
  if ('method' in value) {
    if (typeof value.method !== 'string' || value.method === '') throw invalid('"method" must be a string');
    if ('result' in value || 'error' in value) throw invalid('a message is either a request or a response');
    if (hasId && !isRequestId(value.id)) throw invalid('"id" must be a string or an integer');
    if ('params' in value && !isObject(value.params)) throw invalid('"params" must be an object');
    return value as unknown as RpcRequest | RpcNotification;
  }
  if ('result' in value === 'error' in value) throw invalid('a response has either "result" or "error"');
  if ('result' in value && !isObject(value.result)) throw invalid('"result" must be an object');
  if ('error' in value && !isRpcError(value.error)) throw invalid('"error" must have a numeric "code" and a "message"');
  if (!hasId || value.id === null) {
    if (!('error' in value)) throw invalid('a result needs the "id" of its request');
    const { id: _none, ...rest } = value;
    return rest as unknown as RpcResponse;
  }
  if (!isRequestId(value.id)) throw invalid('"id" must be a string or an integer');
  return value as unknown as RpcResponse;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isInteger(value);
}

function isRpcError(value: unknown): value is RpcError {
  return isObject(value) && Number.isInteger(value.code) && typeof value.message === 'string';
}

function invalid(why: string): SallyError {
  return new SallyError('call.invalid_request', `not a JSON-RPC message: ${why}`);
}
