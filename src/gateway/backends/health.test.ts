import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { SallyError } from '../../base/index.ts';
import { untilUnhealthy } from './health.ts';
import { GATEWAY_IDENTITY, gatewayClient } from './own-call.ts';
import type { Talk } from './talk.ts';

const PLAN = { interval: 2, timeout: 1_000, threshold: 3 };
const asking = () => ({ client: gatewayClient('0'), identity: GATEWAY_IDENTITY });

/** A server of which each check comes out as the test says. */
function watch(check: () => SallyError | undefined) {
  const stop = new AbortController();
  const seen = { checks: 0, unhealthy: undefined as SallyError | undefined };
  const talk = {
    hello: { era: 'legacy' },
    async request() {
      seen.checks += 1;
      const failure = check();
      if (failure) throw failure;
      return { result: {} };
    },
  } as unknown as Talk;
  const watching = untilUnhealthy('notes', talk, asking, PLAN, stop.signal).then((reason) => {
    if (!stop.signal.aborted) seen.unhealthy = reason;
  });
  return {
    seen,
    watching,
    async [Symbol.asyncDispose]() {
      stop.abort();
      await watching;
    },
  };
}

describe('a server that is checked', () => {
  it('is unhealthy when it does not answer several times in a row', async () => {
    await using server = watch(() => new SallyError('fetch.unreachable', 'nobody is there'));
    await server.watching;
    expect(server.seen).toMatchObject({ checks: PLAN.threshold, unhealthy: { code: 'backend.unreachable' } });
  });

  it.each(['storage.unavailable', 'outgoing.unavailable'] as const)(
    'is not blamed for a credential that cannot be had right now (%s)',
    async (code) => {
      await using server = watch(() => new SallyError(code, 'away'));
      while (server.seen.checks < PLAN.threshold * 3 && !server.seen.unhealthy) await sleep(5);
      expect(server.seen.unhealthy).toBeUndefined();
    },
  );
});
