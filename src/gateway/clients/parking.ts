import { createHash, randomBytes } from 'node:crypto';
import { SallyError, type Sealer } from '../../base/index.ts';
import { isObject } from '../../mcp/index.ts';
import { principalOf } from '../call.ts';
import type { LiveCall } from './live-call.ts';
import type { ModernChannel } from './modern-channel.ts';

/** How long a call waits for its user. A person may have to look something up. */
const LIFETIME = 10 * 60_000;
const MAX_PARKED = 1_000;
const MAX_PARKED_EACH = 32;

interface Parked {
  readonly call: LiveCall;
  readonly channel: ModernChannel;
  readonly digest: string;
  /** Counts the times the user was asked: an answer fits the latest question only. */
  readonly round: number;
  readonly expiry: NodeJS.Timeout;
}

interface State {
  readonly parked: string;
  readonly round: number;
}

/**
 * Calls that wait for an answer of their user. A stateless client cannot be asked in the middle of a call, so the call is
 * left standing with its server, the question goes out as the result, and the answer comes with a new request.
 * A tool is never run twice: what cannot be continued is refused.
 */
export interface Parking {
  /** Leaves a call standing and gives the state its continuation has to show. */
  park(call: LiveCall, channel: ModernChannel): string;
  /** The call that a request continues, or `undefined` when the state is not one of ours. */
  resume(call: LiveCall): { readonly call: LiveCall; readonly channel: ModernChannel } | undefined;
  close(): void;
}

export function createParking(sealer: Sealer): Parking {
  const waiting = new Map<string, Parked>();
  /** Calls that were parked before: a call that asks again keeps its id, and counts on. */
  const known = new WeakMap<LiveCall, { readonly id: string; readonly round: number }>();

  function leave(id: string): void {
    clearTimeout(waiting.get(id)?.expiry);
    waiting.delete(id);
  }

  function expireLater(id: string, call: LiveCall): NodeJS.Timeout {
    return setTimeout(() => {
      waiting.delete(id);
      call.cancel('nobody answered the question of the server');
    }, LIFETIME).unref();
  }

  return {
    park(call, channel) {
      refuseCrowd(call, waiting);
      const before = known.get(call);
      const { id } = before ?? { id: randomBytes(16).toString('base64url') };
      const round = (before?.round ?? 0) + 1;
      known.set(call, { id, round });
      waiting.set(id, { call, channel, digest: digestOf(call), round, expiry: expireLater(id, call) });
      if (!before) call.onCancel(() => leave(id));
      return sealer.seal({ parked: id, round } satisfies State);
    },

    resume(retry) {
      const state = typeof retry.params.requestState === 'string' ? sealer.open(retry.params.requestState) : undefined;
      if (!isState(state)) return undefined;
      const parked = waiting.get(state.parked);
      const fits =
        parked &&
        parked.round === state.round &&
        principalOf(parked.call.identity) === principalOf(retry.identity) &&
        parked.digest === digestOf(retry);
      if (!fits) throw new SallyError('call.expired', 'this interaction is over, call again from the start');
      leave(state.parked); // the same state does not fit twice; a call that asks again is parked again
      return parked;
    },

    close() {
      for (const [id, { call }] of [...waiting]) {
        leave(id);
        call.cancel('the gateway is shutting down');
      }
    },
  };
}

function refuseCrowd(call: LiveCall, waiting: ReadonlyMap<string, Parked>): void {
  const principal = principalOf(call.identity);
  let own = 0;
  for (const parked of waiting.values()) if (principalOf(parked.call.identity) === principal) own += 1;
  if (waiting.size < MAX_PARKED && (own < MAX_PARKED_EACH || principal === 'anonymous')) return;
  throw new SallyError('call.too_many', 'too many calls wait for an answer of their user');
}

function isState(value: unknown): value is State {
  return isObject(value) && typeof value.parked === 'string' && typeof value.round === 'number';
}

/** What a continuation has to repeat unchanged: method, name and arguments, whatever the order of their fields. */
function digestOf({ method, params }: LiveCall): string {
  const { name, uri, arguments: args } = params;
  return createHash('sha256')
    .update(canonical([method, name, uri, args]))
    .digest('base64url');
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value) ?? 'null';
  const fields = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`);
  return `{${fields.join(',')}}`;
}
