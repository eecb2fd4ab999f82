import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SallyError } from '../../base/index.ts';

const PAUSE = 50;

/** Waits until something accepts connections at the URL's port, or the process that should do so has failed. */
export async function untilListening(
  url: URL,
  signal: AbortSignal,
  failed: () => SallyError | undefined,
): Promise<void> {
  for (;;) {
    const failure = failed();
    if (failure) throw failure;
    if (await accepts(url)) return;
    await sleep(PAUSE, undefined, { signal });
  }
}

function accepts({ hostname, port }: URL): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
