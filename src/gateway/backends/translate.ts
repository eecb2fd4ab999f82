import {
  isAtLeast,
  isObject,
  META,
  MODERN_REVISION,
  metaOf,
  type Params,
  withMeta,
  withoutHopMeta,
} from '../../mcp/index.ts';
import type { Call, Client, Told } from '../call.ts';

/** The parameters of a call for a server of the stateless revision: the client's own envelope, or one that speaks for it. */
export function forModernServer(call: Call, params: Params): Params {
  if (call.client.era === 'modern') return params;
  const { capabilities, info, logLevel } = call.client;
  return withMeta(withoutHopMeta(params), {
    [META.protocolVersion]: MODERN_REVISION,
    [META.clientCapabilities]: asModernCapabilities(call.client, capabilities),
    ...(info ? { [META.clientInfo]: info } : {}),
    ...(logLevel ? { [META.logLevel]: logLevel } : {}),
  });
}

/** What a client of a stateful revision can be asked, in the words of the stateless one. */
function asModernCapabilities({ revision }: Client, capabilities: Params): Params {
  const { elicitation, sampling, roots, experimental } = capabilities;
  const asked: Record<string, unknown> = {};
  if (isObject(elicitation) && isAtLeast(revision, '2025-06-18')) {
    const { url, form, ...rest } = elicitation;
    const forms = form !== undefined || url === undefined ? { form: form ?? {} } : {};
    asked.elicitation = {
      ...rest,
      ...forms,
      ...(url !== undefined && isAtLeast(revision, '2025-11-25') ? { url } : {}),
    };
  }
  if (isObject(sampling)) {
    const { tools, ...rest } = sampling;
    asked.sampling = tools !== undefined && isAtLeast(revision, '2025-11-25') ? { ...rest, tools } : rest;
  }
  if (isObject(roots)) asked.roots = {};
  if (isObject(experimental)) asked.experimental = experimental;
  return asked;
}

/** What a client can be asked, for the handshake with a server of a stateful revision. Only what we can pass on is announced. */
export function asLegacyCapabilities({ era, capabilities }: Client): Params {
  const { elicitation, sampling, roots } = capabilities;
  return {
    ...(isObject(elicitation) ? { elicitation } : {}),
    ...(isObject(sampling) ? { sampling } : {}),
    ...(isObject(roots) ? { roots: era === 'modern' ? {} : roots } : {}),
  };
}

/** A result of a stateless server for a client of a stateful revision: the fields that mean nothing to it are taken out. */
export function forLegacyClient(told: Told): Told {
  if ('error' in told) return legacyError(told);
  const { resultType, ttlMs, cacheScope, ...result } = told.result;
  const meta = metaOf(result);
  return { result: meta && META.serverInfo in meta ? withoutHopMeta(result) : result };
}

/** -32020…-32022 speak of a hop the client knows nothing about. */
function legacyError(told: {
  readonly error: { readonly code: number; readonly message: string; readonly data?: unknown };
}): Told {
  if (told.error.code > -32020 || told.error.code < -32022) return told;
  return { error: { code: -32603, message: told.error.message } };
}

/** A result of a stateful server for a client of the stateless revision. */
export function forModernClient(told: Told, method: string): Told {
  if ('error' in told) {
    // A resource that is not there: -32002 until 2025-11-25, -32602 since.
    if (told.error.code === -32002 && method === 'resources/read') return { error: { ...told.error, code: -32602 } };
    return told;
  }
  return { result: { resultType: 'complete', ...told.result } };
}

/** The parameters of a call for a server of a stateful revision. */
export function forLegacyServer(call: Call, params: Params): Params {
  if (call.client.era === 'legacy') return params;
  const { inputResponses, requestState, ...rest } = params;
  return withoutHopMeta(rest);
}
