/** Words to all processes that share the store. They may get lost: who relies on them asks the store when it was not listening. */
export interface Broadcast {
  publish(channel: string, text: string): Promise<void>;
  /** Gives a function that ends the subscription. */
  subscribe(channel: string, listener: Listener): () => void;
}

export interface Listener {
  heard(text: string): void;
  /**
   * Whether words reach us from now on. After `false`, and until the `true` that follows, others may have said what we did not
   * hear: what was concluded from silence no longer holds. The first `true` comes when the subscription stands.
   */
  listening(isListening: boolean): void;
}

/** Words within this process, which never get lost. */
export function createMemoryBroadcast(): Broadcast {
  const channels = new Map<string, Set<Listener>>();
  return {
    async publish(channel, text) {
      for (const listener of channels.get(channel) ?? []) listener.heard(text);
    },
    subscribe(channel, listener) {
      const listeners = channels.get(channel) ?? new Set<Listener>();
      channels.set(channel, listeners.add(listener));
      listener.listening(true);
      return () => {
        listeners.delete(listener);
        if (listeners.size === 0 && channels.get(channel) === listeners) channels.delete(channel);
      };
    },
  };
}
