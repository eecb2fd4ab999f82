import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, SallyError } from '../../base/index.ts';
import { META, MODERN_REVISION } from '../../mcp/index.ts';
import { read } from '../call.ts';
import { type Asking, OwnCall } from './own-call.ts';
import type { Talk } from './talk.ts';

export interface HealthPlan {
  /** In milliseconds. */
  readonly interval: number;
  readonly timeout: number;
  /** Checks in a row that may fail. */
  readonly threshold: number;
}

/**
 * Asks a server now and then whether it lives, with the smallest question there is. Resolves with the reason when it has failed
 * too often in a row; any answer is a sign of life, an error too. Never resolves while all is well, and never rejects.
 */
export async function untilUnhealthy(
  name: string,
  talk: Talk,
  asking: () => Asking,
  plan: HealthPlan,
  stop: AbortSignal,
): Promise<SallyError> {
  let failures = 0;
  for (;;) {
    await sleep(plan.interval, undefined, { signal: stop, ref: false }).catch(() => {});
    if (stop.aborted) return new SallyError('listener.draining', `${name} is not watched any more`);
    try {
      await check(talk, asking(), AbortSignal.timeout(plan.timeout));
      failures = 0;
    } catch (cause) {
      if (isOurs(cause)) continue;
      failures += 1;
      if (failures >= plan.threshold) {
        return new SallyError('backend.unreachable', `${name} did not answer ${failures} health checks in a row`, {
          cause,
        });
      }
    }
  }
}

/** It was not asked: what we would have to show it cannot be had right now. An outage of ours must not close every connection. */
function isOurs(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'storage.unavailable' || code === 'outgoing.unavailable';
}

async function check(talk: Talk, { client, identity }: Asking, signal: AbortSignal): Promise<void> {
  const [method, params] =
    talk.hello.era === 'legacy'
      ? (['ping', {}] as const)
      : ([
          'server/discover',
          { _meta: { [META.protocolVersion]: MODERN_REVISION, [META.clientCapabilities]: {} } },
        ] as const);
  read(await talk.request(new OwnCall(method, params, identity, client, signal), method, params));
}
