import type { Params, RequestId } from './json-rpc.ts';
import type { RawParams } from './strict-json.ts';

/** Parameters as the caller wrote them, so that what was not changed is sent on to the letter. */
export interface Source {
  readonly params: Params;
  readonly raw: RawParams | undefined;
}

/** A request or notification as text. Members of `params` that are still the caller's own are copied, not written anew. */
export function encodeCall(id: RequestId | undefined, method: string, params: Params, source?: Source): string {
  const head =
    id === undefined ? '{"jsonrpc":"2.0","method":' : `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":`;
  return `${head}${JSON.stringify(method)},"params":${encodeParams(params, source)}}`;
}

function encodeParams(params: Params, source: Source | undefined): string {
  if (!source?.raw) return JSON.stringify(params);
  let text = '{';
  for (const key of Object.keys(params)) {
    const value = params[key];
    if (value === undefined) continue;
    const written = value === source.params[key] ? source.raw.get(key) : undefined;
    if (text.length > 1) text += ',';
    text += `${JSON.stringify(key)}:${written ?? JSON.stringify(value)}`;
  }
  return `${text}}`;
}
