import { setTimeout as sleep } from 'node:timers/promises';

/** What the promise gives, or `undefined` when it takes longer. Leaves no timer behind. */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  const waiting = new AbortController();
  try {
    const late = sleep(ms, undefined, { signal: waiting.signal }).catch(() => undefined);
    return await Promise.race([promise, late]);
  } finally {
    waiting.abort();
  }
}
