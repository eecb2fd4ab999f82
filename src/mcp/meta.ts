import { isObject, type Params } from './json-rpc.ts';

/** Keys of `_meta` that belong to one hop: each side of the gateway writes its own. */
export const META = {
  protocolVersion: 'io.modelcontextprotocol/protocolVersion',
  clientCapabilities: 'io.modelcontextprotocol/clientCapabilities',
  clientInfo: 'io.modelcontextprotocol/clientInfo',
  logLevel: 'io.modelcontextprotocol/logLevel',
  serverInfo: 'io.modelcontextprotocol/serverInfo',
  subscriptionId: 'io.modelcontextprotocol/subscriptionId',
} as const;

const OF_ONE_HOP = new Set<string>(Object.values(META));

export function metaOf(params: Params): Params | undefined {
  return isObject(params._meta) ? params._meta : undefined;
}

/** The parameters with the keys of the client's hop taken out of `_meta`; what vendors and tracing put there stays. */
export function withoutHopMeta(params: Params): Params {
  const meta = metaOf(params);
  if (!meta || !Object.keys(meta).some((key) => OF_ONE_HOP.has(key))) return params;
  const kept = Object.entries(meta).filter(([key]) => !OF_ONE_HOP.has(key));
  const { _meta, ...rest } = params;
  return kept.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(kept) };
}

export function withMeta(params: Params, meta: Params): Params {
  return { ...params, _meta: { ...metaOf(params), ...meta } };
}

export const LOG_LEVELS = ['debug', 'info', 'notice', 'warning', 'error', 'critical', 'alert', 'emergency'] as const;
export type LoggingLevel = (typeof LOG_LEVELS)[number];

export function isLoggingLevel(value: unknown): value is LoggingLevel {
  return (LOG_LEVELS as readonly unknown[]).includes(value);
}

/** Is a message of this level one that a listener of that level wants? */
export function isLoudEnough(level: unknown, wanted: LoggingLevel): boolean {
  return !isLoggingLevel(level) || LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(wanted);
}
