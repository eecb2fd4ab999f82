import type { AuthServer, AuthServerMemory } from '../authserver/index.ts';
import type { Log } from '../base/index.ts';
import type { Access } from '../gateway/index.ts';
import type { AuthServerPlan } from '../plan/index.ts';

/** The authorization servers of one `sally`. What each remembers outlives a change of its plan. */
export interface AuthServers {
  open(plan: AuthServerPlan): Promise<AuthServer>;
}

export function createAuthServers(log: Log, { trustProxyHeaders }: Access): AuthServers {
  const memories = new Map<string, AuthServerMemory>();
  return {
    async open(plan) {
      // Loaded only where one is declared: the library behind it is the heaviest we have.
      const { createAuthServer, createAuthServerMemory, forwardedAddressOf } = await import('../authserver/index.ts');
      const memory = memories.get(plan.name) ?? createAuthServerMemory();
      memories.set(plan.name, memory);
      return await createAuthServer(plan, {
        memory,
        log,
        ...(trustProxyHeaders ? { sourceOf: forwardedAddressOf } : {}),
      });
    },
  };
}
