import { setTimeout as sleep } from 'node:timers/promises';
import { SallyError } from '../../../base/index.ts';

const ANSWER_WITHIN = 60_000;

/** An engine that hangs must not hang us. What it still does in the end, nobody waits for. */
export async function soon<T>(asked: Promise<T>, within = ANSWER_WITHIN): Promise<T> {
  const over = new AbortController();
  const late = sleep(within, undefined, { signal: over.signal }).then(
    () => Promise.reject(engineHangs()),
    () => new Promise<never>(() => {}), // answered in time
  );
  late.catch(() => {});
  asked.catch(() => {}); // it may fail after we gave up
  return await Promise.race([asked, late]).finally(() => over.abort());
}

function engineHangs(): SallyError {
  return new SallyError('workload.runtime_missing', 'the container engine does not answer', {
    hint: 'look whether it hangs: docker info, or podman info; then restart it',
  });
}
