import type { HttpClient } from '../../base/http/index.ts';
import { type Log, SallyError } from '../../base/index.ts';
import { encodeCall, MODERN_REVISION, type Params } from '../../mcp/index.ts';
import type { Answer, Call, Credential, ServerHello } from '../call.ts';
import { discover } from './handshake.ts';
import { openLegacyHttp } from './http-legacy.ts';
import { createModernHttp } from './http-modern.ts';
import { createPoster, type HttpTarget, mediaTypeOf, refusalOf, understand } from './http-talk.ts';
import type { RevisionPin } from './stdio.ts';
import type { HeaderParamsOf, Opening, Transport } from './talk.ts';

export interface HttpParts {
  readonly http: HttpClient;
  readonly credential: Credential;
  readonly pin: RevisionPin;
  readonly log: Log;
  readonly headerParamsOf: HeaderParamsOf;
}

/** A server behind streamable HTTP, of either era. Which one it is of is asked once for each time it is connected to. */
export function createHttpTransport(target: HttpTarget, parts: HttpParts): Transport {
  const { name } = target;
  const poster = createPoster(target, parts.http, parts.credential);
  let era: RevisionPin = parts.pin;

  async function probe(opening: Opening, signal: AbortSignal): Promise<ServerHello | undefined> {
    const ask = async (call: Call, method: string, params: Params): Promise<Answer> => {
      const headers = { 'mcp-protocol-version': MODERN_REVISION, 'mcp-method': method };
      const answer = await poster.post(encodeCall(call.id, method, params), call.identity, headers, call);
      // A refusal of us says nothing about the era, and neither does an outage.
      if (answer.status === 401 || answer.status === 403 || answer.status >= 500) throw refusalOf(name, answer.status);
      if (answer.stream) return { error: { code: -32601, message: 'a stream' } };
      if (mediaTypeOf(answer) !== 'application/json') return { error: { code: -32601, message: 'no MCP' } };
      const message = understand(answer.bytes.toString('utf8'), name);
      if ('result' in message && message.result) return { result: message.result };
      return { error: { code: -32601, message: 'no such method' } };
    };
    return await discover(ask, opening.client, opening.identity, signal);
  }

  return {
    shared: false,
    async open(opening, signal) {
      // The gateway's own conversation is opened first and again after each outage: it asks, the others believe it.
      if (parts.pin === 'auto' && opening.home) era = 'auto';
      const hello = era === 'legacy' ? undefined : await probe(opening, signal);
      if (hello) {
        era = MODERN_REVISION;
        return createModernHttp(hello, opening, { name, poster, log: parts.log, headerParamsOf: parts.headerParamsOf });
      }
      if (parts.pin === MODERN_REVISION)
        throw new SallyError('backend.protocol', `${name} does not speak MCP ${MODERN_REVISION}`);
      const talk = await openLegacyHttp(
        opening,
        { name, poster, log: parts.log, postOnly: target.postOnly === true },
        signal,
      );
      era = 'legacy';
      return talk;
    },
    close: async () => {}, // the line is not ours
  };
}
