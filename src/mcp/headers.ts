import { isObject, type Params } from './json-rpc.ts';

/** MCP 2026-07-28 repeats parts of the body in headers. A value that is not plain header text travels wrapped in base64. */
const WRAPPED = /^=\?base64\?(.*)\?=$/s;
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

export function encodeHeaderValue(text: string): string {
  if (PLAIN.test(text) && !(text.startsWith('=?') && WRAPPED.test(text))) return text;
  return `=?base64?${Buffer.from(text, 'utf8').toString('base64')}?=`;
}

/** The text a header value stands for, or `undefined` when it is wrapped wrongly. */
export function decodeHeaderValue(value: string): string | undefined {
  const text = value.trim();
  const wrapped = WRAPPED.exec(text)?.[1];
  if (wrapped === undefined) return text;
  return BASE64.test(wrapped) ? Buffer.from(wrapped, 'base64').toString('utf8') : undefined;
}

/** What the `Mcp-Name` header must repeat for a method, or `undefined` for methods that have none. */
export function headerNameOf(method: string, params: Params): unknown {
  switch (method) {
    case 'tools/call':
    case 'prompts/get':
      return params.name;
    case 'resources/read':
      return params.uri;
    case 'tasks/get':
    case 'tasks/update':
    case 'tasks/cancel':
      return params.taskId;
    default:
      return undefined;
  }
}

/** One argument of a tool that is repeated as a header. */
export interface HeaderParam {
  readonly header: string;
  readonly path: readonly string[];
}

/** The arguments of a tool that are mirrored into headers, or `undefined` when its annotations break the rules. */
export function headerParamsOf(inputSchema: unknown): readonly HeaderParam[] | undefined {
  const found: HeaderParam[] = [];
  const names = new Set<string>();
  if (!collect(inputSchema, [], found, names)) return undefined;
  return found;
}

const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const MIRRORED = ['string', 'integer', 'boolean'];
const MAX_DEPTH = 32;

/** Follows `properties` only. An annotation anywhere else, or on a type that has no plain text, makes the tool unusable over HTTP. */
function collect(schema: unknown, path: readonly string[], found: HeaderParam[], names: Set<string>): boolean {
  if (!isObject(schema) || path.length > MAX_DEPTH) return true;
  for (const [key, value] of Object.entries(schema)) {
    if (key === 'x-mcp-header') {
      if (path.length === 0 || typeof value !== 'string' || !TOKEN.test(value)) return false;
      if (names.has(value.toLowerCase()) || !MIRRORED.includes(String(schema.type))) return false;
      names.add(value.toLowerCase());
      found.push({ header: value, path });
    } else if (key === 'properties' && isObject(value)) {
      for (const [name, property] of Object.entries(value)) {
        if (!collect(property, [...path, name], found, names)) return false;
      }
    } else if (hasAnnotation(value, 0)) {
      return false;
    }
  }
  return true;
}

function hasAnnotation(value: unknown, depth: number): boolean {
  if (depth > MAX_DEPTH || typeof value !== 'object' || value === null) return false;
  if (Array.isArray(value)) return value.some((item) => hasAnnotation(item, depth + 1));
  return Object.entries(value).some(([key, item]) => key === 'x-mcp-header' || hasAnnotation(item, depth + 1));
}

/** The value an argument has as a header, or `undefined` when it is absent, null, or of a type that is not mirrored. */
export function mirroredText(params: Params, path: readonly string[]): string | undefined {
  let value: unknown = params.arguments;
  for (const key of path) value = isObject(value) ? value[key] : undefined;
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return undefined;
}
