import { SallyError } from '../../base/index.ts';
import {
  isObject,
  isRequest,
  META,
  MODERN_REVISION,
  type Params,
  type RawParams,
  type RpcMessage,
} from '../../mcp/index.ts';
import type { Answer, Told } from '../call.ts';
import { paramHeadersOf, readEnvelope } from './envelope.ts';
import type { Greeting, Hubs } from './hub.ts';
import type { Incoming } from './legacy.ts';
import { listen } from './listen.ts';
import { LiveCall } from './live-call.ts';
import { ModernChannel } from './modern-channel.ts';
import type { Parking } from './parking.ts';
import { failure, needsStatus } from './reply.ts';

export interface ModernParts {
  readonly hubs: Hubs;
  readonly parking: Parking;
  readonly serverInfo: Params;
}

/** Methods of the stateful revisions that this one took away. */
const REMOVED = new Set(['initialize', 'ping', 'logging/setLevel', 'resources/subscribe', 'resources/unsubscribe']);

/** How long lists may be kept by a client before it asks again; a change is told to those who listen. */
const LIST_TTL = 5_000;

/** Clients of the stateless revision: every request carries all there is to know about its sender. */
export function createModern({ hubs, parking, serverInfo }: ModernParts) {
  return async function post(incoming: Incoming, message: RpcMessage, raw: RawParams | undefined): Promise<void> {
    const { headers, identity, outlet } = incoming;
    if (!isRequest(message)) return outlet.empty(202);
    const { id, method, params = {} } = message;
    const client = readEnvelope(method, params, headers, identity);
    if (REMOVED.has(method)) throw new SallyError('call.gone', `${method} is not part of MCP ${MODERN_REVISION}`);
    const call = new LiveCall({ id, method, params, raw, identity, client, paramHeaders: paramHeadersOf(headers) });

    const standing = 'requestState' in params ? parking.resume(call) : undefined;
    if (standing) return standing.channel.resume(call, outlet);

    const channel = new ModernChannel(call, outlet, parking, serverInfo);
    call.channel = channel;
    if (method === 'subscriptions/listen') return await listen(call, hubs.of(identity), outlet, serverInfo);
    let answer: Answer;
    try {
      const hub = hubs.of(identity);
      answer =
        method === 'server/discover'
          ? complete(discovery(await hub.greeting()), serverInfo)
          : complete(await hub.answer(call), serverInfo, method);
    } catch (thrown) {
      if (needsStatus(thrown) && outlet.open && !outlet.streaming && !call.cancelled) throw thrown;
      answer = failure(thrown);
    }
    if (!call.cancelled) channel.finish(answer);
    else if (outlet.open) outlet.end();
  };
}

function discovery({ capabilities, instructions }: Greeting): Told {
  return {
    result: {
      supportedVersions: [MODERN_REVISION],
      capabilities,
      ...(instructions === undefined ? {} : { instructions }),
      ttlMs: LIST_TTL,
      cacheScope: 'private',
    },
  };
}

const CACHEABLE = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
]);

/** What this revision wants on every result, where the server behind did not already say it. An answer goes unread if it may. */
function complete(answer: Answer, serverInfo: Params, method = ''): Answer {
  if ('unread' in answer || 'error' in answer) return answer;
  const { result } = answer;
  const resultType = result.resultType ?? 'complete';
  const hints = CACHEABLE.has(method) && resultType === 'complete' ? { ttlMs: 0, cacheScope: 'private' } : {};
  const meta = { [META.serverInfo]: serverInfo, ...(isObject(result._meta) ? result._meta : {}) };
  return { result: { ...hints, ...result, resultType, _meta: meta } };
}
