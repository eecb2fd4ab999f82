import { SallyError } from '../base/index.ts';
import { isDeeperThan, parseStrict, type RawParams } from './strict-json.ts';

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

/** Servers may nest deeper than clients, but not so deep that writing their words again overflows the stack. */
const MAX_SERVER_DEPTH = 512;

/** One JSON-RPC message of a server, or a refusal that says what is wrong with it. */
export function parseMessage(text: string): RpcMessage {
  if (isDeeperThan(MAX_SERVER_DEPTH, text)) throw invalid('it is nested too deep');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new SallyError('call.parse_error', 'the message is not JSON', { cause });
  }
  return checkMessage(value);
}

export interface ClientMessage {
  readonly message: RpcMessage;
  readonly raw: RawParams | undefined;
}

/** What a client posted, read strictly: it will be checked here and obeyed elsewhere. One message, or the list of an old batch. */
export function parseClientMessage(text: string): ClientMessage | readonly RpcMessage[] {
  const { value, raw } = parseStrict(text);
  if (Array.isArray(value)) return value.map(checkClientMessage);
  return { message: checkClientMessage(value), raw };
}

function checkClientMessage(value: unknown): RpcMessage {
  const message = checkMessage(value);
  for (const key of Object.keys(message)) refuseVariant(key, ENVELOPE);
  if ('params' in message && message.params) {
    for (const key of Object.keys(message.params)) refuseVariant(key, ROUTED);
  }
  return message;
}

/** Fields that decide what happens. A server that ignores case would obey `Method` where we looked at `method`. */
const ENVELOPE = caseMap(['jsonrpc', 'id', 'method', 'params', 'result', 'error']);
const ROUTED = caseMap([
  ...['name', 'uri', 'arguments', '_meta', 'cursor', 'ref', 'argument', 'level', 'task', 'taskId', 'notifications'],
  ...['inputResponses', 'requestState', 'protocolVersion', 'capabilities', 'requestId', 'progressToken'],
]);

function caseMap(names: readonly string[]): ReadonlyMap<string, string> {
  return new Map(names.map((name) => [name.toLowerCase(), name]));
}

function refuseVariant(key: string, names: ReadonlyMap<string, string>): void {
  const known = names.get(key) ?? names.get(key.toLowerCase().replaceAll('\0', ''));
  if (known !== undefined && known !== key) throw invalid(`${JSON.stringify(key)} must be written "${known}"`);
}

function checkMessage(value: unknown): RpcMessage {
  if (!isObject(value)) throw invalid('a message is a JSON object');
  if (value.jsonrpc !== '2.0') throw invalid('"jsonrpc" must be "2.0"');
  return 'method' in value ? checkCall(value) : checkResponse(value);
}

function checkCall(value: Record<string, unknown>): RpcRequest | RpcNotification {
  if (typeof value.method !== 'string' || value.method === '') throw invalid('"method" must be a string');
  if ('result' in value || 'error' in value) throw invalid('a message is either a request or a response');
  if ('id' in value && !isRequestId(value.id)) throw invalid('"id" must be a string or an integer');
  if ('params' in value && !isObject(value.params)) throw invalid('"params" must be an object');
  return value as unknown as RpcRequest | RpcNotification;
}

function checkResponse(value: Record<string, unknown>): RpcResponse {
  if ('result' in value === 'error' in value) throw invalid('a response has either "result" or "error"');
  if ('result' in value && !isObject(value.result)) throw invalid('"result" must be an object');
  if ('error' in value && !isRpcError(value.error)) throw invalid('"error" must have a numeric "code" and a "message"');
  if ('id' in value && value.id !== null) {
    if (!isRequestId(value.id)) throw invalid('"id" must be a string or an integer');
    return value as unknown as RpcResponse;
  }
  if (!('error' in value)) throw invalid('a result needs the "id" of its request');
  const { id: _none, ...rest } = value;
  return rest as unknown as RpcResponse;
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRequestId(value: unknown): value is RequestId {
  return typeof value === 'string' || Number.isSafeInteger(value);
}

function isRpcError(value: unknown): value is RpcError {
  return isObject(value) && Number.isInteger(value.code) && typeof value.message === 'string';
}

function invalid(why: string): SallyError {
  return new SallyError('call.invalid_request', `not a JSON-RPC message: ${why}`);
}
