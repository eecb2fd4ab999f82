import { randomBytes } from 'node:crypto';
import { createSealer, type Sealer } from '../base/index.ts';
import { createMemory, type Memory } from '../gateway/index.ts';

/** What each endpoint remembers of its clients, for the life of the process. */
export interface Memories {
  /** `sealerFor` is what several processes that serve the endpoint have in common. */
  readonly memoryOf: (name: string, sealerFor?: (purpose: string) => Sealer) => Memory;
  readonly sealer: Sealer;
  close(): void;
}

export function createMemories(): Memories {
  // Without something in common, sealed state is worth nothing to another process: what it continues lives in this one.
  const key = randomBytes(32);
  const memories = new Map<string, Memory>();
  return {
    sealer: createSealer(key, 'request-state'),
    memoryOf(name, sealerFor = (purpose) => createSealer(key, purpose)) {
      const memory = memories.get(name) ?? createMemory(sealerFor(`parked-call ${name}`));
      memories.set(name, memory);
      return memory;
    },
    close() {
      for (const memory of memories.values()) memory.close();
    },
  };
}
