import type { IncomingHttpHeaders } from 'node:http';
import { SallyError } from '../../base/index.ts';
import {
  decodeHeaderValue,
  headerNameOf,
  isLoggingLevel,
  isObject,
  type LoggingLevel,
  META,
  MODERN_REVISION,
  metaOf,
  type Params,
  type RpcMessage,
} from '../../mcp/index.ts';
import { type Client, type Identity, principalOf } from '../call.ts';

/** Which era a message belongs to. The body decides; the version header has to agree with it. */
export function isModern(message: RpcMessage, headers: IncomingHttpHeaders): boolean {
  if (!('method' in message)) return false;
  if (message.params && META.protocolVersion in (metaOf(message.params) ?? {})) return true;
  const version = headers['mcp-protocol-version'];
  return typeof version === 'string' && version.trim() >= MODERN_REVISION;
}

/** The client of a modern request, out of the envelope that every such request carries. The order of the checks is the protocol's. */
export function readEnvelope(method: string, params: Params, headers: IncomingHttpHeaders, identity: Identity): Client {
  const meta = metaOf(params);
  const version = meta?.[META.protocolVersion];
  if (!meta || typeof version !== 'string') throw missing(META.protocolVersion);
  requireHeader(headers, 'mcp-protocol-version', version);
  const capabilities = meta[META.clientCapabilities];
  if (!isObject(capabilities)) throw missing(META.clientCapabilities);
  if (version !== MODERN_REVISION) {
    throw new SallyError('call.unsupported_version', `MCP ${version} is not spoken here`, {
      data: { supported: [MODERN_REVISION], requested: version },
    });
  }
  requireHeader(headers, 'mcp-method', method);
  const name = headerNameOf(method, params);
  if (typeof name === 'string') requireHeader(headers, 'mcp-name', name);
  const logLevel = meta[META.logLevel];
  if (logLevel !== undefined && !isLoggingLevel(logLevel)) throw missing(META.logLevel);
  const info = meta[META.clientInfo];
  return new ModernClient(identity, capabilities, isObject(info) ? info : undefined, logLevel);
}

class ModernClient implements Client {
  readonly era = 'modern';
  readonly revision = MODERN_REVISION;
  readonly alone = false;
  readonly capabilities: Params;
  readonly info: Params | undefined;
  readonly logLevel: LoggingLevel | undefined;
  readonly #identity: Identity;

  constructor(identity: Identity, capabilities: Params, info: Params | undefined, logLevel: LoggingLevel | undefined) {
    this.#identity = identity;
    this.capabilities = capabilities;
    this.info = info;
    this.logLevel = logLevel;
  }

  /** Requests of one caller that declare the same share a conversation with a server that needs one. */
  get key(): string {
    return `${principalOf(this.#identity)} ${fingerprint(this.capabilities)}`;
  }
}

function requireHeader(headers: IncomingHttpHeaders, name: string, expected: string): void {
  const value = headers[name];
  if (value === expected && !expected.startsWith('=?')) return; // plain text, as nearly always
  const said = typeof value === 'string' ? decodeHeaderValue(value) : undefined;
  if (said === expected) return;
  throw new SallyError(
    'call.header_mismatch',
    `the header ${name} ${said === undefined ? 'is missing or malformed' : 'differs from the body'}`,
  );
}

/** What MCP knows beside a capability. Words that a client made up would open a conversation with a server for each. */
const DETAILS = ['context', 'form', 'listChanged', 'tools', 'url'];

/** Only what a server could ask for matters; the same set always gives the same text. */
function fingerprint(capabilities: Params): string {
  const parts: string[] = [];
  for (const name of ['elicitation', 'roots', 'sampling']) {
    const capability = capabilities[name];
    if (isObject(capability)) parts.push(`${name}(${DETAILS.filter((detail) => detail in capability).join(',')})`);
  }
  return parts.join(' ');
}

function missing(key: string): SallyError {
  return new SallyError('call.meta_missing', `_meta["${key}"] is missing or of the wrong type`);
}

/** The headers that mirror arguments, as the client sent them. */
export function paramHeadersOf(headers: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined {
  let found: Record<string, string> | undefined;
  for (const name in headers) {
    if (!name.startsWith('mcp-param-')) continue;
    found ??= {};
    found[name] = String(headers[name]);
  }
  return found;
}
