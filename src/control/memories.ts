import { randomBytes } from 'node:crypto';
import { createSealer, type Sealer } from '../base/index.ts';
import { createMemory, type Memory } from '../gateway/index.ts';

/** What each endpoint remembers of its clients, for the life of the process. */
export interface Memories {
  readonly memoryOf: (name: string) => Memory;
  readonly sealer: Sealer;
  close(): void;
}

export function createMemories(): Memories {
  // Sealed state is worth nothing to another process: what it continues lives in this one.
  const key = randomBytes(32);
  const memories = new Map<string, Memory>();
  return {
    sealer: createSealer(key, 'request-state'),
    memoryOf(name) {
      const memory = memories.get(name) ?? createMemory(createSealer(key, `parked-call ${name}`));
      memories.set(name, memory);
      return memory;
    },
    close() {
      for (const memory of memories.values()) memory.close();
    },
  };
}
