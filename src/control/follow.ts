import { setTimeout as sleep } from 'node:timers/promises';

/** What could not be done may work a little later: a port becomes free, a file readable. */
const RETRY = 5_000;

/** Yields whenever it is time to look at the resources: after each change, and again after a while when the last look failed. */
export async function* follow(
  changes: AsyncIterable<void>,
  failed: () => boolean,
  stop: AbortSignal,
): AsyncGenerator<void> {
  const iterator = changes[Symbol.asyncIterator]();
  let change = iterator.next();
  while (!stop.aborted) {
    const waiting = new AbortController();
    const retry = failed()
      ? sleep(RETRY, 'retry' as const, { signal: AbortSignal.any([waiting.signal, stop]) }).catch(() => 'stop' as const)
      : undefined;
    const first = await Promise.race(retry ? [change, retry] : [change]);
    waiting.abort();
    if (first === 'stop') continue;
    if (first !== 'retry') {
      if (first.done) return;
      change = iterator.next();
    }
    yield;
  }
}
