import type { Redis } from 'ioredis';
import type { Log } from '../../../base/index.ts';
import type { Broadcast, Listener } from '../broadcast.ts';
import { withoutArguments } from './failure.ts';
import type { Link } from './link.ts';

export interface BroadcastParts {
  readonly prefix: string;
  readonly where: string;
  readonly log: Log;
  /** What is said goes out here; a connection that listens can do nothing else. */
  readonly link: Link;
}

/** Nothing is sent on a connection that listens, so only asking shows that it still does. */
const PULSE = 2_000;

export function createRedisBroadcast(
  client: Redis,
  { prefix, where, log, link }: BroadcastParts,
): Broadcast & { close(): void } {
  const listeners = new Map<string, Set<Listener>>();
  /** Channels the server has confirmed, on the connection of now. */
  const standing = new Set<string>();

  const tell = (channel: string, isListening: boolean): void => {
    for (const listener of listeners.get(channel) ?? []) listener.listening(isListening);
  };

  function deafen(): void {
    const lost = [...standing];
    standing.clear();
    for (const channel of lost) tell(channel, false);
  }

  async function stand(channel: string): Promise<void> {
    if (client.status !== 'ready') return; // `ready` comes by here again
    try {
      await client.subscribe(prefix + channel);
      if (standing.has(channel) || !listeners.has(channel)) return;
      standing.add(channel);
      tell(channel, true);
    } catch (error) {
      log.debug('storage subscription failed', { storage: where, error: withoutArguments(error) });
      client.disconnect(true);
    }
  }

  client.on('ready', () => {
    for (const channel of listeners.keys()) void stand(channel);
  });
  client.on('close', deafen);
  client.on('error', (error: Error) => {
    log.debug('storage listener failed', { storage: where, error: withoutArguments(error) });
  });
  client.on('message', (channel: string, text: string) => {
    for (const listener of listeners.get(channel.slice(prefix.length)) ?? []) listener.heard(text);
  });

  const pulse = setInterval(() => {
    if (client.status !== 'ready') return;
    client.ping().catch(() => {
      deafen();
      if (client.status === 'ready') client.disconnect(true);
    });
  }, PULSE).unref();

  return {
    async publish(channel, text) {
      await link.run((redis) => redis.publish(prefix + channel, text), { repeatable: true });
    },
    subscribe(channel, listener) {
      const known = listeners.get(channel) ?? new Set<Listener>();
      listeners.set(channel, known.add(listener));
      if (standing.has(channel)) listener.listening(true);
      else void stand(channel);
      return () => {
        known.delete(listener);
        if (known.size > 0 || listeners.get(channel) !== known) return;
        listeners.delete(channel);
        standing.delete(channel);
        if (client.status === 'ready') client.unsubscribe(prefix + channel).catch(() => {}); // gone with the connection
      };
    },
    close: () => clearInterval(pulse),
  };
}
