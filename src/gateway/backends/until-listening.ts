import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { SallyError } from '../../base/index.ts';

const PAUSE = 50;

/** A port, or a socket file. */
export type Place = Pick<URL, 'hostname' | 'port'> | { readonly socket: string };

/** Waits until something accepts connections there, or the process that should do so has failed. */
export async function untilListening(
  place: Place,
  signal: AbortSignal,
  failed: () => SallyError | undefined,
): Promise<void> {
  for (;;) {
    const failure = failed();
    if (failure) throw failure;
    if (await accepts(place)) return;
    await sleep(PAUSE, undefined, { signal });
  }
}

function accepts(place: Place): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = 'socket' in place ? connect(place.socket) : connect(Number(place.port), place.hostname);
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
